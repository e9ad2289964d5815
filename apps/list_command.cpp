#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "apps/commands.hpp"
#include "apps/option_checks.hpp"
#include "apps/text_columns.hpp"
#include "orrery/names.hpp"
#include "planner/methods/search.hpp"
#include "studies/validate/measured_table.hpp"

namespace orrery {
namespace {

constexpr std::string_view kMeasurements = "measurements";
constexpr std::string_view kSearches = "searches";

void print_entry(const NamedEntry& entry) {
  std::string line = "  " + entry.name;
  line.resize(std::max<std::size_t>(line.size() + 2, 26), ' ');
  std::printf("%s\n", wrapped_lines(line + entry.summary, text_columns()).c_str());
}

/// Lists the sections in order: the kinds of names, with the tables of measured runs among them and the
/// methods of search behind them.
std::vector<std::string> list_sections() {
  std::vector<std::string> names(kNameKindNames.begin(), kNameKindNames.end());
  names.insert(names.begin() + static_cast<std::ptrdiff_t>(NameKind::schedule), std::string(kMeasurements));
  names.emplace_back(kSearches);
  return names;
}

std::vector<NamedEntry> measured_entries() {
  std::vector<NamedEntry> entries;
  for (const ShippedTable& table : shipped_tables())
    entries.push_back(
        {std::string(table.name), std::to_string(table.rows) + " measured runs, with their sources"});
  return entries;
}

std::vector<NamedEntry> search_entries() {
  std::vector<NamedEntry> entries;
  for (const SearchMethod& method : search_methods())
    entries.push_back({std::string(method.name), std::string(method.summary)});
  return entries;
}

std::vector<NamedEntry> entries_of(std::string_view section) {
  if (section == kMeasurements) return measured_entries();
  if (section == kSearches) return search_entries();
  const auto kind = std::ranges::find(kNameKindNames, section) - kNameKindNames.begin();
  return list_names(static_cast<NameKind>(kind));
}

struct ListOptions {
  std::string what;
  bool json = false;
};

[[nodiscard]] bool wanted(const ListOptions& options, std::string_view section) {
  return options.what.empty() || options.what == section;
}

/// An object with a list for each section.
std::string list_json(const ListOptions& options) {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  for (const std::string& section : list_sections()) {
    if (!wanted(options, section)) continue;
    all[section] = nlohmann::ordered_json::array();
    for (const NamedEntry& entry : entries_of(section))
      all[section].push_back({{"name", entry.name}, {"summary", entry.summary}});
  }
  return all.dump(2) + "\n";
}

void print_list(const ListOptions& options) {
  for (const std::string& section : list_sections()) {
    if (!wanted(options, section)) continue;
    if (options.what.empty()) std::printf("%s\n", section.c_str());
    for (const NamedEntry& entry : entries_of(section)) print_entry(entry);
  }
}

int run_list(const ListOptions& options) {
  if (options.json) {
    const std::string text = list_json(options);
    std::fwrite(text.data(), 1, text.size(), stdout);
  } else {
    print_list(options);
  }
  return kDone;
}

}  // namespace

Command add_list(CLI::App& app, const CommonOptions& /*common*/) {
  auto options = std::make_shared<ListOptions>();
  app.add_option("what", options->what, "One part of the catalog; all of it when left out")
      ->check(one_of(list_sections()));
  app.add_flag("--json", options->json, "As JSON: names and summaries by part");
  return [options] { return run_list(*options); };
}

}  // namespace orrery
