#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "apps/commands.hpp"
#include "orrery/error.hpp"
#include "sim/io/catalog.hpp"
#include "topologies/gossip/gossip.hpp"
#include "topologies/topologies.hpp"
#include "validation/measured_table.hpp"
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
