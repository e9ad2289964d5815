// Checks every cluster of the catalog, whatever its constants: a route out of the node is never the faster
// one, and bus bandwidth rises with size and falls with nodes.
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "config/experiment/read_experiment.hpp"
#include "config/schema/menus.hpp"
#include "tests/workloads/collectives/small_networks.hpp"
#include "topologies/common/topologies.hpp"

using namespace orrery;
using namespace orrery::test;

namespace {

constexpr Collective kCollectiveKinds[]{Collective::all_reduce, Collective::all_gather,
                                        Collective::reduce_scatter, Collective::all_to_all,
                                        Collective::broadcast};
constexpr Bytes kMessageSizes[]{1'000, 30'000, 1'000'000, 10'000'000, 100'000'000, 3'000'000'000};

const Catalog& links_catalog() {
  static const Catalog embedded = Catalog::embedded();
  return embedded;
}

/// The cluster with four domains of GPUs, or as many nodes as a torus of the catalog has.
Cluster cluster_named(const std::string& name) {
  const std::string precision = name.starts_with("tpu") || name.starts_with("gaudi") ? "bf16" : "fp16";
  const std::string text = R"({"model": "gpt3-125m", "plan": {"precision": ")" + precision +
                           R"("}, "cluster": {"base": ")" + name + R"("}})";
  Cluster cluster = read_experiment_text(text, name, {}, links_catalog(), menus()).experiment.cluster;
  if (cluster.fabric.shape.size() < 2) cluster.nodes = 4 * cluster.node.domain_nodes;
  return cluster;
}

Picoseconds time_of(CollectivePricer& pricer, Collective collective,
                    const std::vector<std::uint32_t>& members, Bytes bytes) {
  TransferPrice out;
  pricer.price({collective, bytes, Dimension::data}, members, out);
  return out.alone_ps();
}

/// The first `half` GPUs of the first and of the second domain.
std::vector<std::uint32_t> halves(std::uint32_t half, std::uint32_t domain) {
  std::vector<std::uint32_t> members = first_ranks(2 * half);
  for (std::uint32_t i = half; i < 2 * half; ++i) members[i] = domain + i - half;
  return members;
}

/// Bus bandwidth as nccl-tests count it, but for the unit.
double bus_bandwidth(Collective collective, std::size_t members, Bytes bytes, Picoseconds time) {
  const auto n = static_cast<double>(members);
  const double share = collective == Collective::broadcast ? 1 : (n - 1) / n;
  const double passes = collective == Collective::all_reduce ? 2 : 1;
  return passes * share * static_cast<double>(bytes) / static_cast<double>(time);
}

}  // namespace

TEST_CASE("no collective over two nodes of a catalog cluster is faster than the same inside one") {
  for (const std::string& name : links_catalog().names(CatalogKind::cluster)) {
    CAPTURE(name);
    const auto topology = build_topology(cluster_named(name));
    CollectivePricer pricer(*topology, all_by("auto"));
    for (std::uint32_t half = 1; 2 * half <= topology->gpus_per_domain(); half *= 2) {
      CAPTURE(half);
      for (const Bytes bytes : kMessageSizes) {
        CAPTURE(bytes);
        for (const Collective collective : kCollectiveKinds) {
          CAPTURE(collective);
          CHECK(time_of(pricer, collective, halves(half, topology->gpus_per_domain()), bytes) >
                time_of(pricer, collective, first_ranks(2 * half), bytes));
        }
        CHECK(time_of(pricer, Collective::send_recv, {0, topology->gpus_per_domain()}, bytes) >
              time_of(pricer, Collective::send_recv, {0, 1}, bytes));
      }
    }
  }
}

TEST_CASE("bus bandwidth of catalog clusters rises with size and falls with nodes") {
  for (const std::string& name : links_catalog().names(CatalogKind::cluster)) {
    CAPTURE(name);
    const auto topology = build_topology(cluster_named(name));
    CollectivePricer pricer(*topology, all_by("auto"));
    for (const Collective collective : kCollectiveKinds) {
      CAPTURE(collective);
      std::vector<double> of_fewer(std::size(kMessageSizes), 1e300);
      for (std::uint32_t members = topology->gpus_per_domain(); members <= topology->gpus(); members *= 2) {
        if (members == 1) continue;
        CAPTURE(members);
        double of_smaller = 0;
        for (std::size_t i = 0; i < std::size(kMessageSizes); ++i) {
          const Picoseconds time = time_of(pricer, collective, first_ranks(members), kMessageSizes[i]);
          const double bandwidth = bus_bandwidth(collective, members, kMessageSizes[i], time);
          CAPTURE(kMessageSizes[i]);
          CHECK(bandwidth > of_smaller);
          // Where the time does not depend on the members (trees, latency), twice as many have a bus
          // bandwidth of (2n - 1)/2n over (n - 1)/n of before, by its definition.
          CHECK(bandwidth <= of_fewer[i] * (members - 1.0) / (members - 2.0) * (1 + 1e-9));
          of_smaller = of_fewer[i] = bandwidth;
        }
      }
    }
  }
}

TEST_CASE("every link of a catalog cluster has a calibration with a base latency") {
  for (const std::string& name : links_catalog().names(CatalogKind::cluster)) {
    CAPTURE(name);
    const Cluster cluster = cluster_named(name);
    CHECK(cluster.fabric.base_latency_us > 0);
    CHECK(!cluster.fabric.calibration.empty());
    if (cluster.gpus_per_node == 1) continue;
    CHECK(cluster.node.base_latency_us > 0);
    CHECK(!cluster.node.calibration.empty());
  }
}
