#include "tests/topologies/helpers.hpp"

namespace orrery::test {
namespace {

using Rates = std::vector<std::int64_t>;

std::unique_ptr<Topology> node_of(const std::string& wiring, std::int64_t gpus) {
  return build_topology(cluster_of(1, gpus, wiring, "switch"));
}

TEST_CASE("nvswitch: up and down, the latency once") {
  const auto node = node_of("nvswitch", 8);
  CHECK(node->vertices() == 9);
  CHECK(node->links().size() == 16);
  CHECK(way(*node, 2, 5) == "gpu2 > node0/nvswitch > gpu5");
  const auto route = route_of(*node, 2, 5);
  CHECK(node->link(route[0]).latency_ps == kNodeLatency);
  CHECK(node->link(route[1]).latency_ps == 0);
  CHECK(node->link(route[0]).kind == LinkKind::nvlink);
  CHECK(rates_of(*node, 2, 5) == Rates{kRate, kRate});
}

TEST_CASE("the efficiency scales the bandwidth, rounded once") {
  Cluster cluster = cluster_of(2, 2, "nvswitch", "switch");
  cluster.node.efficiency = 0.77;
  cluster.fabric.efficiency = 0.9;
  cluster.fabric.nic_gbps = 25;
  const auto topology = build_topology(cluster);
  // 25e9 * 0.77 = 19.25e9; 25e9 / 8 * 0.9 = 2.8125e9
  CHECK(rates_of(*topology, 0, 1) == Rates{19'250'000'000, 19'250'000'000});
  CHECK(rates_of(*topology, 0, 2) == Rates{2'812'500'000, 2'812'500'000});
}

TEST_CASE("hybrid cube mesh: the 24 NVLinks of a DGX-1") {
  const auto node = node_of("hybrid-cube-mesh", 8);
  CHECK(node->links().size() == 32);  // 16 pairs, both ways
  std::int64_t sum = 0;
  for (const Link& link : node->links()) sum += link.bytes_per_s;
  CHECK(sum == 2 * 24 * kRate);
  for (std::uint32_t gpu = 0; gpu < 8; ++gpu) {
    std::int64_t out = 0;
    for (const Link& link : node->links()) out += index(link.from) == gpu ? link.bytes_per_s : 0;
    CHECK(out == 6 * kRate);
  }
  CHECK(rates_of(*node, 0, 1) == Rates{kRate});
  CHECK(rates_of(*node, 0, 3) == Rates{2 * kRate});
  CHECK(rates_of(*node, 7, 4) == Rates{2 * kRate});
  CHECK(rates_of(*node, 2, 6) == Rates{kRate});
}

TEST_CASE("hybrid cube mesh: unlinked pairs go the widest way through one neighbour") {
  const auto node = node_of("hybrid-cube-mesh", 8);
  CHECK(way(*node, 0, 7) == "gpu0 > gpu4 > gpu7");  // 2 + 2 links; over gpu3 2 + 1
  CHECK(way(*node, 0, 6) == "gpu0 > gpu2 > gpu6");  // 1 + 1 links; over gpu4 2 + 1, equally thin
  CHECK(way(*node, 6, 0) == "gpu6 > gpu2 > gpu0");
  CHECK(latency_of(*node, 0, 7) == 2 * kNodeLatency);
  CHECK(way(*node_of("hybrid-cube-mesh", 5), 3, 4) == "gpu3 > gpu0 > gpu4");
}

TEST_CASE("ring: the shortest way round, upwards when both are equal") {
  const auto node = node_of("ring", 6);
  CHECK(node->links().size() == 12);
  CHECK(way(*node, 5, 1) == "gpu5 > gpu0 > gpu1");
  CHECK(way(*node, 1, 5) == "gpu1 > gpu0 > gpu5");
  CHECK(way(*node, 1, 4) == "gpu1 > gpu2 > gpu3 > gpu4");
  CHECK(way(*node, 4, 1) == "gpu4 > gpu5 > gpu0 > gpu1");
  CHECK(latency_of(*node, 1, 4) == 3 * kNodeLatency);
  CHECK(node_of("ring", 2)->links().size() == 2);
}

TEST_CASE("full mesh: one link") {
  const auto node = node_of("full-mesh", 5);
  CHECK(node->links().size() == 20);
  CHECK(way(*node, 3, 1) == "gpu3 > gpu1");
  CHECK(latency_of(*node, 3, 1) == kNodeLatency);
  CHECK(rates_of(*node, 3, 1) == Rates{kRate});
}

TEST_CASE("pcie: pairs share the link to the root") {
  const auto node = node_of("pcie", 5);
  CHECK(node->vertices() == 5 + 3 + 1);
  CHECK(way(*node, 2, 3) == "gpu2 > node0/pcie1 > gpu3");
  CHECK(latency_of(*node, 2, 3) == kNodeLatency);
  CHECK(way(*node, 0, 4) == "gpu0 > node0/pcie0 > node0/root > node0/pcie2 > gpu4");
  CHECK(latency_of(*node, 0, 4) == 3 * kNodeLatency);
  CHECK(rates_of(*node, 0, 4) == Rates{kRate, kRate, kRate, kRate});
  CHECK(route_of(*node, 0, 4)[1] == route_of(*node, 1, 3)[1]);
  CHECK(node->link(route_of(*node, 0, 4)[1]).kind == LinkKind::pcie);
  CHECK(node_of("pcie", 2)->vertices() == 3);
}

TEST_CASE("pcie-host: all messages pass the memory of the host") {
  Cluster cluster = cluster_of(1, 4, "pcie-host", "switch");
  cluster.node.host_gb_per_s = 30;
  const auto node = build_topology(cluster);
  CHECK(node->links().size() == 9);
  CHECK(way(*node, 0, 3) == "gpu0 > node0/root > node0/memory > gpu3");
  CHECK(latency_of(*node, 0, 3) == kNodeLatency);
  CHECK(rates_of(*node, 0, 3) == Rates{kRate, 30'000'000'000, kRate});
  CHECK(route_of(*node, 0, 1)[1] == route_of(*node, 3, 2)[1]);
  cluster.node.kind = "pcie";
  CHECK_THROWS_WITH((void)build_topology(cluster),
                    "/cluster/node/host_gb_per_s: found 30 for the wiring \"pcie\"; only pcie-host stages "
                    "messages in the host's memory");
}

TEST_CASE("none: GPUs of a node meet in the fabric") {
  const auto topology = build_topology(cluster_of(1, 4, "none", "switch", 2));
  CHECK(way(*topology, 0, 3) == "node0/nic0 > switch > node0/nic1");
  CHECK(way(*topology, 0, 1) == "node0/nic0 > switch > node0/nic0");
  CHECK(latency_of(*topology, 0, 1) == kHop);
}

}  // namespace
}  // namespace orrery::test
