#include "orrery/names.hpp"

#include <cstddef>
#include <span>

#include "config/catalog/catalog.hpp"
#include "config/experiment/schema.hpp"
#include "config/schema/menus.hpp"
#include "config/text/wording.hpp"
#include "orrery/data_parallel_sync.hpp"
#include "topologies/common/topologies.hpp"
#include "topologies/gossip/gossip.hpp"
#include "workloads/collectives/collectives.hpp"
#include "workloads/schedules/schedules.hpp"

namespace orrery {
namespace {

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
    "gossip of models and of estimates of the mean gradient",
    "gossip that takes back what the averages of the step before did wrong (exact diffusion)",
    "gossip with a momentum of what models changed, averages included",
    "gossip or local steps; every `period` steps a global average and slow momentum",
    "local steps; every `period` steps an outer optimizer with a random partner",
    "diloco with sparse changes whose error feedback takes the place of momentum",
    "decoupled momentum: its largest frequencies are averaged every step",
    "asynchronous: workers average with a random neighbour at the ends of their own steps",
    "asynchronous: every `period` steps a worker and a centre pull at each other",
    "asynchronous diloco: a server takes each worker's change when it comes",
};
constexpr std::array<std::string_view, Compression::kNames.size()> kCompressionSummaries{
    "values travel as they are",
    "values of `bits` bits, 4, 8 or 16",
    "random rounding to `levels` levels of a bucket's norm, unbiased",
    "a bit per value and a scale per tensor",
    "the largest `fraction` of the values, with their places",
    "a random `fraction`, drawn alike by all",
    "two factors of `rank` columns per matrix (PowerSGD)",
    "a sign and three bits of exponent, E3M0, and a scale per bucket",
    "the largest `fraction` of the frequencies of each chunk (DeMo)",
};

using Entries = std::vector<NamedEntry>;

Entries catalog_entries(CatalogKind kind) {
  const Catalog catalog = Catalog::embedded();
  Entries entries;
  for (const std::string& name : catalog.names(kind)) entries.push_back({name, catalog.summary(kind, name)});
  return entries;
}

template <class Menu>
Entries menu_entries(const Menu& menu) {
  Entries entries;
  for (const MenuEntry& entry : menu)
    entries.push_back({std::string(entry.name), std::string(entry.summary)});
  return entries;
}

Entries table_entries(std::span<const std::string_view> names, std::span<const std::string_view> summaries) {
  Entries entries;
  for (std::size_t i = 0; i < names.size(); ++i)
    entries.push_back({std::string(names[i]), std::string(summaries[i])});
  return entries;
}

[[noreturn]] void refuse_entry(CatalogKind kind, std::string_view name, const Catalog& catalog) {
  const std::vector<std::string> known = catalog.names(kind);
  throw InputError(
      "", "found " + quote(name) + ", allowed one of " + joined(views(known)) + hint(name, views(known)));
}

}  // namespace

Entries list_names(NameKind kind) {
  switch (kind) {
    case NameKind::model:
      return catalog_entries(CatalogKind::model);
    case NameKind::gpu:
      return catalog_entries(CatalogKind::gpu);
    case NameKind::cluster:
      return catalog_entries(CatalogKind::cluster);
    case NameKind::calibration:
      return catalog_entries(CatalogKind::calibration);
    case NameKind::failure:
      return catalog_entries(CatalogKind::failure);
    case NameKind::schedule:
      return menu_entries(pipeline_schedules());
    case NameKind::collective:
      return menu_entries(collective_algorithms());
    case NameKind::wiring:
      return menu_entries(node_wirings());
    case NameKind::fabric:
      return menu_entries(fabrics());
    case NameKind::method:
      return table_entries(kSyncMethodNames, kMethodSummaries);
    case NameKind::compression:
      return table_entries(Compression::kNames, kCompressionSummaries);
    case NameKind::gossip:
      return menu_entries(gossip_topologies());
  }
  return {};
}

std::string catalog_entry(NameKind kind, std::string_view name) {
  if (kind > NameKind::failure)
    throw InputError("", "the catalog has no " + std::string(kNameKindNames[static_cast<std::size_t>(kind)]));
  const auto catalog_kind = static_cast<CatalogKind>(kind);
  const Catalog catalog = Catalog::embedded();
  if (!catalog.contains(catalog_kind, name)) refuse_entry(catalog_kind, name, catalog);
  return catalog.text(catalog_kind, name);
}

std::string experiment_schema(std::string_view which) { return json_schema(which, menus()); }

std::string_view version() { return ORRERY_VERSION; }

}  // namespace orrery
