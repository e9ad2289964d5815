#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "apps/commands.hpp"
#include "apps/option_checks.hpp"
#include "apps/text_columns.hpp"
#include "config/catalog/catalog.hpp"
#include "orrery/data_parallel_sync.hpp"
#include "orrery/error.hpp"
#include "studies/validate/measured_table.hpp"
#include "topologies/gossip/gossip.hpp"
#include "topologies/topologies.hpp"
#include "workloads/collectives/collectives.hpp"
#include "workloads/schedules/schedules.hpp"

namespace orrery {
namespace {

struct ListEntry {
  std::string name;
  std::string summary;
};
using ListEntries = std::vector<ListEntry>;

void print_entry(const ListEntry& entry) {
  std::string line = "  " + entry.name;
  line.resize(std::max<std::size_t>(line.size() + 2, 26), ' ');
  std::printf("%s\n", wrapped_lines(line + entry.summary, text_columns()).c_str());
}

ListEntries of_catalog(CatalogKind kind) {
  const Catalog catalog = Catalog::embedded();
  ListEntries entries;
  for (const std::string& name : catalog.names(kind)) entries.push_back({name, catalog.summary(kind, name)});
  return entries;
}

template <class Menu>
ListEntries of_menu(const Menu& menu) {
  ListEntries entries;
  for (const auto& entry : menu) entries.push_back({std::string(entry.name), std::string(entry.summary)});
  return entries;
}

ListEntries measurements() {
  ListEntries entries;
  for (const ShippedTable& table : shipped_tables())
    entries.push_back(
        {std::string(table.name), std::to_string(table.rows) + " measured runs, with their sources"});
  return entries;
}

constexpr std::array<std::string_view, kSyncMethodNames.size()> kMethodSummaries{
    "replicas stay apart",
    "parallel SGD: gradients are averaged over all replicas every step",
    "the same through servers",
    "decentralised SGD: models are averaged with neighbours every step",
    "stochastic gradient push: gossip on directed graphs, a weight travels along",
    "FedAvg: models are averaged over all workers every `period` steps",
    "gossip, and every `period` steps a global average in its place",
    "the same with periods that double up to `final_period`",
    "local steps; every `period` steps an outer optimizer takes the mean change",
};
constexpr std::array<std::string_view, Compression::kNames.size()> kCompressionSummaries{
    "values travel as they are",
    "values of `bits` bits, 4 to 16",
    "random rounding to `levels` levels of a bucket's norm, unbiased",
    "a bit per value and a scale per tensor",
    "the largest `fraction` of the values, with their places",
    "a random `fraction`, drawn alike by all",
    "two factors of `rank` columns per matrix (PowerSGD)",
};

template <std::size_t n>
ListEntries of_names(const std::array<std::string_view, n>& names,
                     const std::array<std::string_view, n>& summaries) {
  ListEntries entries;
  for (std::size_t i = 0; i < n; ++i) entries.push_back({std::string(names[i]), std::string(summaries[i])});
  return entries;
}

struct Section {
  const char* name;
  ListEntries (*entries)();
};

constexpr Section kSections[] = {
    {"models", [] { return of_catalog(CatalogKind::model); }},
    {"gpus", [] { return of_catalog(CatalogKind::gpu); }},
    {"clusters", [] { return of_catalog(CatalogKind::cluster); }},
    {"calibrations", [] { return of_catalog(CatalogKind::calibration); }},
    {"measurements", measurements},
    {"schedules", [] { return of_menu(pipeline_schedules()); }},
    {"collectives", [] { return of_menu(collective_algorithms()); }},
    {"wirings", [] { return of_menu(node_wirings()); }},
    {"fabrics", [] { return of_menu(fabrics()); }},
    {"methods", [] { return of_names(kSyncMethodNames, kMethodSummaries); }},
    {"compression", [] { return of_names(Compression::kNames, kCompressionSummaries); }},
    {"gossip", [] { return of_menu(gossip_topologies()); }},
};

struct ListOptions {
  std::string what;
  bool json = false;
};

[[nodiscard]] bool wanted(const ListOptions& options, const Section& section) {
  return options.what.empty() || options.what == section.name;
}

/// An object with a list for each section.
std::string list_json(const ListOptions& options) {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  for (const Section& section : kSections) {
    if (!wanted(options, section)) continue;
    all[section.name] = nlohmann::ordered_json::array();
    for (const ListEntry& entry : section.entries())
      all[section.name].push_back({{"name", entry.name}, {"summary", entry.summary}});
  }
  return all.dump(2) + "\n";
}

void print_list(const ListOptions& options) {
  for (const Section& section : kSections) {
    if (!wanted(options, section)) continue;
    if (options.what.empty()) std::printf("%s\n", section.name);
    for (const ListEntry& entry : section.entries()) print_entry(entry);
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
  std::vector<std::string> names;
  for (const Section& section : kSections) names.emplace_back(section.name);
  app.add_option("what", options->what, "One part of the catalog; all of it when left out")
      ->check(one_of(names));
  app.add_flag("--json", options->json, "As JSON: names and summaries by part");
  return [options] { return run_list(*options); };
}

}  // namespace orrery
