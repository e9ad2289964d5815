// NVLink domains of several nodes: one switch above the GPUs of all of them, the NICs of each node beside it.
#include "tests/topologies/helpers.hpp"

namespace orrery::test {
namespace {

using Rates = std::vector<std::int64_t>;

/// Nodes of two GPUs, each with a NIC of its own.
Cluster cluster_with_domains(std::int64_t nodes, std::int64_t domain_nodes,
                             const std::string& fabric = "switch") {
  Cluster cluster = cluster_of(nodes, 2, "nvswitch", fabric, 2);
  cluster.node.link_gb_per_s = 100;
  cluster.node.domain_nodes = domain_nodes;
  return cluster;
}

TEST_CASE("a domain of several nodes: GPUs meet in its switch, domains in the fabric") {
  const auto topology = build_topology(cluster_with_domains(7, 3));
  CHECK(topology->gpus_per_node() == 2);
  CHECK(topology->gpus_per_domain() == 6);
  CHECK(way(*topology, 0, 5) == "gpu0 > domain0/nvswitch > gpu5");
  CHECK(way(*topology, 9, 7) == "gpu9 > domain1/nvswitch > gpu7");
  CHECK(way(*topology, 5, 6) == "gpu5 > switch > gpu6");
  CHECK(latency_of(*topology, 0, 5) == kNodeLatency);
  CHECK(latency_of(*topology, 5, 6) == kHop);
  CHECK(rates_of(*topology, 0, 5) == Rates{4 * kRate, 4 * kRate});
  CHECK(rates_of(*topology, 5, 6) == Rates{kRate, kRate});
}

TEST_CASE("the last domain may have fewer nodes") {
  const auto topology = build_topology(cluster_with_domains(7, 3));
  CHECK(way(*topology, 12, 13) == "gpu12 > domain2/nvswitch > gpu13");
  CHECK(way(*topology, 13, 0) == "gpu13 > switch > gpu0");
  CHECK(topology->vertices() == 14 + 3 + 1);
  CHECK(topology->links().size() == 14 * 2 + 14 * 2);  // ports and NICs, both ways
  CHECK(topology->links_per_domain() == 12);
  // One node of one GPU is left over: its port is there, and nothing to send to.
  Cluster single = cluster_of(3, 1, "nvswitch", "switch");
  single.node.domain_nodes = 2;
  CHECK(build_topology(single)->links().size() == 3 * 2 + 3 * 2);
}

TEST_CASE("a cluster smaller than a domain is one, without a fabric") {
  const auto topology = build_topology(cluster_with_domains(3, 18));
  CHECK(topology->gpus_per_domain() == 6);
  CHECK(topology->links().size() == 12);
  CHECK(way(*topology, 0, 5) == "gpu0 > domain0/nvswitch > gpu5");
}

TEST_CASE("to another rail a message first crosses the switch of its domain") {
  const auto topology = build_topology(cluster_with_domains(7, 3, "rail-optimized"));
  CHECK(way(*topology, 2, 8) == "gpu2 > leaf0 > gpu8");
  CHECK(way(*topology, 2, 9) == "gpu2 > domain0/nvswitch > gpu3 > leaf1 > gpu9");
  CHECK(way(*topology, 13, 4) == "gpu13 > domain2/nvswitch > gpu12 > leaf0 > gpu4");
}

TEST_CASE("rings visit the GPUs of a domain, each GPU starting one") {
  const auto topology = build_topology(cluster_with_domains(6, 3));
  const std::vector<GpuId> members{GpuId{6}, GpuId{8}, GpuId{10}};
  const auto rings = topology->node_rings(members);
  REQUIRE(rings.size() == 3);
  for (std::size_t i = 0; i < rings.size(); ++i) CHECK(rings[i].front() == members[i]);
}

TEST_CASE("only a switch joins several nodes") {
  Cluster cluster = cluster_of(4, 2, "pcie", "switch");
  cluster.node.domain_nodes = 2;
  CHECK(error_text(cluster) ==
        "/cluster/node/domain_nodes: found 2 for the wiring \"pcie\"; only nvswitch joins several nodes");
  CHECK(error_pointer(cluster_with_domains(4, 0)) == "/cluster/node/domain_nodes");
}

}  // namespace
}  // namespace orrery::test
