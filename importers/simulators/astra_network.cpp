// Networks of ASTRA-sim's analytical back end, as YAML or JSON, and the older JSON of version 1.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "importers/common/text_lines.hpp"
#include "importers/simulators/astra_sim.hpp"

namespace orrery::importers::simulators {
namespace {

constexpr double kGbOfGib = 1.073741824;
constexpr double kBitsInByte = 8;
constexpr double kMicrosecondsOfNanosecond = 1e-3;

/// Spellings of the lists, of version 2 and of version 1.
struct Spelling {
  std::string_view topology, count, bandwidth, latency;
};
constexpr std::array kSpellings{
    Spelling{"topology", "npus_count", "bandwidth", "latency"},
    Spelling{"topologies-per-dim", "units-count", "link-bandwidth", "link-latency"},
};

struct Dimension {
  std::string topology;
  std::int64_t count = 0;
  double gb_per_s = 0;
  double latency_us = 0;
};

bool is_network(const SourceFile& file) {
  const auto has = [&file](std::string_view key) { return file.text().find(key) != std::string_view::npos; };
  return (has("npus_count") && has("topology")) || (has("topologies-per-dim") && has("units-count"));
}

Json element(const SourceKeys& all, std::string_view key, std::size_t i) {
  const Json& list = all.value(key);
  if (!list.is_array()) return i == 0 ? list : Json();
  return i < list.size() ? list[i] : Json();
}

double number_at(const SourceKeys& all, std::string_view key, std::size_t i) {
  const Json value = element(all, key, i);
  return value.is_number() ? value.get<double>() : 0;
}

std::vector<Dimension> dimensions_of(const SourceKeys& all, const Spelling& keys) {
  const Json& list = all.value(keys.topology);
  std::vector<Dimension> dimensions;
  for (std::size_t i = 0; i < (list.is_array() ? list.size() : 1); ++i) {
    const Json topology = element(all, keys.topology, i), count = element(all, keys.count, i);
    dimensions.push_back({topology.is_string() ? small(topology.get<std::string>()) : "",
                          count.is_number_integer() ? count.get<std::int64_t>() : 0,
                          number_at(all, keys.bandwidth, i) * kGbOfGib,
                          number_at(all, keys.latency, i) * kMicrosecondsOfNanosecond});
  }
  return dimensions;
}

/// A topology in the words of nodes and of fabrics, and how often a message crosses a link there.
struct Meaning {
  std::string_view theirs, node, fabric;
  double links;
};
constexpr std::array kMeanings{
    Meaning{"ring", "ring", "ring", 1},
    Meaning{"switch", "nvswitch", "switch", 2},
    Meaning{"fullyconnected", "full-mesh", "full-mesh", 1},
};

const Meaning* meaning_of(const Dimension& dimension) {
  const auto found = std::ranges::find(kMeanings, dimension.topology, &Meaning::theirs);
  return found == kMeanings.end() ? nullptr : &*found;
}

void map_node_dimension(const Dimension& d, const Meaning& m, const SourceKeys& all, const Spelling& keys,
                        Draft& draft) {
  draft.map(*all.find(keys.count), "cluster.gpus_per_node", d.count, "of the first dimension");
  draft.map(*all.find(keys.topology), "cluster.node.kind", m.node, "the first dimension");
  if (const SourceKey* rate = all.find(keys.bandwidth))
    draft.map(*rate, "cluster.node.link_gb_per_s", d.gb_per_s, "of 2^30 bytes a second");
  if (const SourceKey* latency = all.find(keys.latency))
    draft.map(*latency, "cluster.node.latency_us", d.latency_us * m.links,
              m.links > 1 ? "to the switch and on" : "");
}

void map_fabric_dimension(const Dimension& d, const Dimension& inner, const Meaning& m, const SourceKeys& all,
                          const Spelling& keys, Draft& draft) {
  draft.map(*all.find(keys.count), "cluster.nodes", d.count, "of the second dimension");
  draft.map(*all.find(keys.topology), "cluster.fabric.kind", m.fabric, "the second dimension");
  draft.map(*all.find(keys.count), "cluster.fabric.nics_per_node", inner.count,
            "each NPU has a link of its own");
  if (const SourceKey* rate = all.find(keys.bandwidth))
    draft.map(*rate, "cluster.fabric.nic_gbps", d.gb_per_s * kBitsInByte, "of 2^30 bytes a second");
  if (const SourceKey* latency = all.find(keys.latency))
    draft.map(*latency, "cluster.fabric.latency_us", d.latency_us * m.links,
              m.links > 1 ? "to the switch and on" : "");
}

/// NPUs in one dimension that is no node of a server, as 16 by 16 of a torus, are nodes of a fabric.
void map_lone_torus(const std::vector<Dimension>& dimensions, const SourceKeys& all, const Spelling& keys,
                    Draft& draft) {
  std::int64_t nodes = 1;
  Json shape = Json::array();
  for (const Dimension& d : dimensions) {
    nodes *= std::clamp<std::int64_t>(d.count, 1, 4'000'000);
    nodes = std::min<std::int64_t>(nodes, 4'000'000);
    shape.push_back(d.count);
  }
  draft.map(*all.find(keys.count), "cluster.nodes", nodes, "an NPU each");
  draft.map(*all.find(keys.count), "cluster.gpus_per_node", 1);
  draft.map(*all.find(keys.topology), "cluster.fabric.kind", "torus", "rings of rings");
  draft.map(*all.find(keys.count), "cluster.fabric.shape", shape);
  if (const SourceKey* rate = all.find(keys.bandwidth))
    draft.map(*rate, "cluster.fabric.nic_gbps", dimensions[0].gb_per_s * kBitsInByte,
              "of 2^30 bytes a second");
  if (const SourceKey* latency = all.find(keys.latency))
    draft.map(*latency, "cluster.fabric.latency_us", dimensions[0].latency_us);
}

bool is_torus(const std::vector<Dimension>& dimensions) {
  return dimensions.size() > 1 && std::ranges::all_of(dimensions, [&dimensions](const Dimension& d) {
           return d.topology == "ring" && d.gb_per_s == dimensions[0].gb_per_s;
         });
}

void ignore_other_keys(const SourceKeys& all, const Spelling& keys, Draft& draft) {
  for (const SourceKey& key : all.list())
    if (key.key != keys.topology && key.key != keys.count && key.key != keys.bandwidth &&
        key.key != keys.latency)
      draft.ignore(key, "changes nothing that Orrery's node and fabric have");
}

void read_network(const ImportContext& context, Draft& draft) {
  const SourceKeys all(context.file);
  const Spelling& keys = all.contains("topologies-per-dim") ? kSpellings[1] : kSpellings[0];
  const SourceKey* topology = all.find(keys.topology);
  if (topology == nullptr || all.find(keys.count) == nullptr)
    return draft.lack("cluster", "the network needs a topology and a count for each dimension");
  const std::vector<Dimension> dimensions = dimensions_of(all, keys);
  ignore_other_keys(all, keys, draft);
  if (is_torus(dimensions)) return map_lone_torus(dimensions, all, keys, draft);
  if (dimensions.size() > 2)
    return draft.lack(*topology,
                      "Orrery has two dimensions, a node and a fabric: --set cluster=NAME, or leave one out");
  for (const Dimension& d : dimensions)
    if (meaning_of(d) == nullptr)
      return draft.lack(*topology, "allowed Ring, Switch, FullyConnected: --set cluster.node.kind=KIND");
  map_node_dimension(dimensions[0], *meaning_of(dimensions[0]), all, keys, draft);
  if (dimensions.size() > 1)
    map_fabric_dimension(dimensions[1], dimensions[0], *meaning_of(dimensions[1]), all, keys, draft);
}

}  // namespace

const Importer kAstraNetwork{
    {"astra-sim-network", "Analytical network of ASTRA-sim"}, is_network, read_network};

}  // namespace orrery::importers::simulators
