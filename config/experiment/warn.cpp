// Values that are allowed and yet hardly meant: they look like another unit, or change nothing.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "config/catalog/catalog_data.hpp"
#include "config/catalog/resolve.hpp"
#include "config/experiment/read_parts.hpp"
#include "config/schema/fields.hpp"
#include "config/text/wording.hpp"

namespace orrery {
namespace {

/// Holds the usual range of a key's values, and the units that values outside of it suggest.
struct UsualRange {
  const char* pointer;
  double value;
  const char* unit;
  double least;
  const char* if_less;
  double most;
  const char* if_more;
};

void warn_of_units(const Cluster& cluster, Findings& warnings) {
  const Gpu& gpu = cluster.gpu;
  const double peak = *std::ranges::max_element(gpu.peak_tflops);
  for (const UsualRange& usual : {
           UsualRange{"/cluster/gpu/memory_gb", gpu.memory_gb, "GB", 1, "TB", 2000, "MB"},
           UsualRange{"/cluster/gpu/memory_gb_per_s", gpu.memory_gb_per_s, "GB/s", 20, "TB/s", 2e5, "MB/s"},
           UsualRange{"/cluster/gpu/peak_tflops", peak, "TFLOP/s", 0.1, "PFLOP/s", 2e5, "GFLOP/s"},
           UsualRange{"/cluster/node/link_gb_per_s", cluster.node.link_gb_per_s, "GB/s", 0.5, "TB/s", 1e4,
                      "MB/s"},
           UsualRange{"/cluster/fabric/nic_gbps", cluster.fabric.nic_gbps, "Gb/s", 0.5, "Tb/s", 1e4, "Mb/s"},
           UsualRange{"/cluster/node/latency_us", cluster.node.latency_us, "us", 0, "ms", 300, "ns"},
           UsualRange{"/cluster/fabric/latency_us", cluster.fabric.latency_us, "us", 0, "ms", 3000, "ns"},
       }) {
    if (usual.value <= 0 || (usual.value >= usual.least && usual.value <= usual.most)) continue;
    warnings.add(usual.pointer, fmt::format("found {} {}, which looks like {}", usual.value, usual.unit,
                                            usual.value < usual.least ? usual.if_less : usual.if_more));
  }
}

/// GB/s of a link, in one direction, of the catalog's clusters with such GPUs and such a wiring; 0: unknown.
double catalog_link(const Cluster& cluster, const CatalogData& catalog) {
  double fastest = 0;
  for (const auto& [name, file] : catalog.entries[static_cast<std::size_t>(CatalogKind::cluster)]) {
    Findings ignored;
    const Json known = Resolver(catalog, ignored).resolve(CatalogKind::cluster, name, Path());
    if (!known.is_object() || !known.contains("gpu") || !known.contains("node")) continue;
    const Json& gpu = known["gpu"];
    const Json& node = known["node"];
    if (gpu.value("name", "") != cluster.gpu.name || node.value("kind", "") != cluster.node.kind) continue;
    fastest = std::max(fastest, node.value("link_gb_per_s", 0.0));
  }
  return fastest;
}

/// Vendors add both directions up.
void warn_of_both_directions(const Cluster& cluster, const CatalogData& catalog, Findings& warnings) {
  if (cluster.gpu.name.empty() || cluster.node.link_gb_per_s <= 0) return;
  const double known = catalog_link(cluster, catalog);
  const double factor = known > 0 ? cluster.node.link_gb_per_s / known : 1;
  if (factor < 1.9) return;
  warnings.add("/cluster/node/link_gb_per_s",
               fmt::format("found {} GB/s, {:.3g} times the {} GB/s of {} in the catalog: the key is of one "
                           "direction",
                           cluster.node.link_gb_per_s, factor, known, printable(cluster.gpu.name)));
}

}  // namespace

void warn_of_oddities(const Experiment& experiment, const CatalogData& catalog, Findings& warnings) {
  warn_of_units(experiment.cluster, warnings);
  warn_of_both_directions(experiment.cluster, catalog, warnings);
  warn_of_idle_keys(experiment, warnings);
  const Model& model = experiment.model;
  if (experiment.plan.recompute == Recompute::selective && model.attends() &&
      model.attention == Attention::flash)
    warnings.add("/plan/recompute",
                 "found \"selective\", which changes nothing with attention \"flash\": it keeps no scores");
}

void warn_of_idle_software(const Json& root, bool serves, Findings& warnings) {
  const auto software = root.find("software");
  if (software == root.end() || !software->is_object()) return;
  for (const std::string_view key : serves ? training_software_keys() : serving_software_keys()) {
    if (!software->contains(key)) continue;
    warnings.add(fmt::format("/software/{}", key),
                 serves ? "found beside inference, where it has no effect: it is a constant of training"
                        : "found without inference, where it has no effect: it is a constant of serving");
  }
}

}  // namespace orrery
