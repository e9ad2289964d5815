#include "importers/write_experiment.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <utility>

#include "orrery/printable.hpp"

namespace orrery::importers {
namespace {

/// The order in which people write the parts of an experiment.
constexpr std::array<std::string_view, 9> kParts{"name",     "model",    "cluster",   "plan",      "stack",
                                                 "software", "training", "inference", "simulation"};

std::string comment_of(const Draft& draft, const std::string& key) {
  const ImportItem* origin = draft.origin(key);
  if (origin == nullptr) return "";
  if (origin->fate == Fate::defaulted) return one_line("default: " + origin->note);
  return one_line(fmt::format("{} {}", origin->place.text(), origin->key));
}

/// A scalar or a list on one line, as JSON, which is YAML too.
void write_flow(YAML::Emitter& out, const Json& value) {
  if (value.is_string()) {
    out << value.get<std::string>();
  } else if (value.is_array()) {
    out << YAML::Flow << YAML::BeginSeq;
    for (const Json& element : value) write_flow(out, element);
    out << YAML::EndSeq;
  } else if (value.is_object()) {
    out << YAML::Flow << YAML::BeginMap;
    for (const auto& [name, member] : value.items()) {
      out << YAML::Key << name << YAML::Value;
      write_flow(out, member);
    }
    out << YAML::EndMap;
  } else {
    out << value.dump();
  }
}

void write_member(YAML::Emitter& out, const Draft& draft, const std::string& name, const std::string& key,
                  const Json& value) {
  out << YAML::Key << name << YAML::Value;
  if (value.is_object() && draft.origin(key) == nullptr) {
    out << YAML::Block << YAML::BeginMap;
    for (const auto& [below, member] : value.items())
      write_member(out, draft, below, fmt::format("{}.{}", key, below), member);
    out << YAML::EndMap;
    return;
  }
  write_flow(out, value);
  if (const std::string comment = comment_of(draft, key); !comment.empty()) out << YAML::Comment(comment);
}

}  // namespace

std::string experiment_with_origins(const Json& document, const Draft& draft) {
  YAML::Emitter out;
  out << YAML::BeginMap;
  for (const std::string_view part : kParts)
    if (document.contains(part))
      write_member(out, draft, std::string(part), std::string(part), document.at(part));
  for (const auto& [name, value] : document.items())
    if (std::ranges::find(kParts, name) == kParts.end()) write_member(out, draft, name, name, value);
  out << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

}  // namespace orrery::importers
