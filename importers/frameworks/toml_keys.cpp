#include "importers/frameworks/toml_keys.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <string>
#include <utility>

#include "orrery/error.hpp"

namespace orrery::importers::frameworks {
namespace {

Json toml_value(const toml::node& node) {
  if (const auto* array = node.as_array()) {
    Json list = Json::array();
    for (const toml::node& element : *array) list.push_back(toml_value(element));
    return list;
  }
  if (const auto* table = node.as_table()) {
    Json object = Json::object();
    for (const auto& [name, member] : *table) object[std::string(name.str())] = toml_value(member);
    return object;
  }
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto flag = node.value_exact<bool>()) return *flag;
  if (const auto whole = node.value_exact<std::int64_t>()) return *whole;
  if (const auto number = node.value_exact<double>()) return *number;
  return nullptr;
}

void collect(const toml::table& table, const std::string& before, const SourceFile& file,
             std::vector<SourceKey>& keys) {
  for (const auto& [name, member] : table) {
    const std::string key = before + std::string(name.str());
    const auto* inner = member.as_table();
    if (inner != nullptr && !inner->empty())
      collect(*inner, key + '.', file, keys);
    else
      keys.push_back({key, toml_value(member), {file.path(), static_cast<int>(member.source().begin.line)}});
  }
}

}  // namespace

SourceKeys toml_keys(const SourceFile& file) {
  std::vector<SourceKey> keys;
  try {
    collect(toml::parse(file.text(), file.path()), "", file, keys);
  } catch (const toml::parse_error& error) {
    throw InputError({Diagnostic{file.path(), static_cast<int>(error.source().begin.line),
                                 static_cast<int>(error.source().begin.column), "",
                                 "found no TOML: " + std::string(error.description())}});
  }
  std::ranges::stable_sort(keys, {}, [](const SourceKey& key) { return key.place.line; });
  SourceKeys all;
  for (SourceKey& key : keys) all.add(std::move(key));
  return all;
}

}  // namespace orrery::importers::frameworks
