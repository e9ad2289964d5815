#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/commands.hpp"
#include "orrery/names.hpp"
#include "studies/validate/measured_table.hpp"

namespace orrery {
namespace {

constexpr std::string_view kMeasurements = "measurements";

void print_entry(std::string_view name, std::string_view summary) {
  std::printf("  %-22.*s %.*s\n", static_cast<int>(name.size()), name.data(),
              static_cast<int>(summary.size()), summary.data());
}

void print_measurements() {
  for (const ShippedTable& table : shipped_tables()) {
    print_entry(table.name, std::to_string(table.rows) + " measured runs, with their sources");
  }
}

void print_names(NameKind kind) {
  for (const NamedEntry& entry : list_names(kind)) print_entry(entry.name, entry.summary);
}

/// What is listed, in order: the kinds of names, and the tables of measured runs among them.
std::vector<std::string> sections() {
  std::vector<std::string> names(kNameKindNames.begin(), kNameKindNames.end());
  names.insert(names.begin() + static_cast<std::ptrdiff_t>(NameKind::schedule), std::string(kMeasurements));
  return names;
}

void print_section(std::string_view name) {
  if (name == kMeasurements) return print_measurements();
  const auto kind = std::ranges::find(kNameKindNames, name) - kNameKindNames.begin();
  print_names(static_cast<NameKind>(kind));
}

}  // namespace

Command add_list(CLI::App& app, const CommonOptions& /*common*/) {
  auto what = std::make_shared<std::string>();
  app.add_option("what", *what, "One part of the catalog; all of it when left out")
      ->check(CLI::IsMember(sections()));
  return [what] {
    for (const std::string& section : sections()) {
      if (!what->empty() && *what != section) continue;
      if (what->empty()) std::printf("%s\n", section.c_str());
      print_section(section);
    }
    return kDone;
  };
}

}  // namespace orrery
