#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apps/commands.hpp"
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

void print_entry(std::string_view name, std::string_view summary) {
  std::printf("  %-22.*s %.*s\n", static_cast<int>(name.size()), name.data(),
              static_cast<int>(summary.size()), summary.data());
}

void print_catalog(CatalogKind kind) {
  const Catalog catalog = Catalog::embedded();
  for (const std::string& name : catalog.names(kind)) print_entry(name, catalog.summary(kind, name));
}

template <class Entries>
void print_menu(const Entries& entries) {
  for (const auto& entry : entries) print_entry(entry.name, entry.summary);
}

void print_measurements() {
  for (const ShippedTable& table : shipped_tables()) {
    print_entry(table.name, std::to_string(table.rows) + " measured runs, with their sources");
  }
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
void print_named(const std::array<std::string_view, n>& names,
                 const std::array<std::string_view, n>& summaries) {
  for (std::size_t i = 0; i < n; ++i) print_entry(names[i], summaries[i]);
}

struct Section {
  const char* name;
  void (*print)();
};

constexpr Section kSections[] = {
    {"models", [] { print_catalog(CatalogKind::model); }},
    {"gpus", [] { print_catalog(CatalogKind::gpu); }},
    {"clusters", [] { print_catalog(CatalogKind::cluster); }},
    {"calibrations", [] { print_catalog(CatalogKind::calibration); }},
    {"measurements", print_measurements},
    {"schedules", [] { print_menu(pipeline_schedules()); }},
    {"collectives", [] { print_menu(collective_algorithms()); }},
    {"wirings", [] { print_menu(node_wirings()); }},
    {"fabrics", [] { print_menu(fabrics()); }},
    {"methods", [] { print_named(kSyncMethodNames, kMethodSummaries); }},
    {"compression", [] { print_named(Compression::kNames, kCompressionSummaries); }},
    {"gossip", [] { print_menu(gossip_topologies()); }},
};

}  // namespace

Command add_list(CLI::App& app, const CommonOptions& /*common*/) {
  auto what = std::make_shared<std::string>();
  std::vector<std::string> names;
  for (const Section& section : kSections) names.emplace_back(section.name);
  app.add_option("what", *what, "One part of the catalog; all of it when left out")
      ->check(CLI::IsMember(names));
  return [what] {
    for (const Section& section : kSections) {
      if (!what->empty() && *what != section.name) continue;
      if (what->empty()) std::printf("%s\n", section.name);
      section.print();
    }
    return kDone;
  };
}

}  // namespace orrery
