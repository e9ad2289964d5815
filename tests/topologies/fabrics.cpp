#include "tests/topologies/helpers.hpp"

namespace orrery::test {
namespace {

using Rates = std::vector<std::int64_t>;

TEST_CASE("switch: out of a NIC, into a NIC, the latency once") {
  const auto topology = build_topology(cluster_of(3, 2, "nvswitch", "switch", 2));
  CHECK(way(*topology, 1, 4) == "gpu1 > switch > gpu4");
  CHECK(latency_of(*topology, 1, 4) == kHop);
  const auto route = route_of(*topology, 1, 4);
  REQUIRE(route.size() == 2);
  CHECK(topology->link(route[0]).latency_ps == kHop);
  CHECK(topology->link(route[1]).latency_ps == 0);
  CHECK(topology->link(route[1]).kind == LinkKind::nic);
  CHECK(rates_of(*topology, 1, 4) == Rates{kRate, kRate});
  CHECK(way(*topology, 4, 5) == "gpu4 > node2/nvswitch > gpu5");
}

TEST_CASE("GPUs share NICs where there are fewer NICs") {
  const auto topology = build_topology(cluster_of(2, 8, "nvswitch", "switch", 4));
  // floor(i * 4 / 8): pairs of GPUs
  CHECK(way(*topology, 0, 15) == "node0/nic0 > switch > node1/nic3");
  CHECK(route_of(*topology, 0, 15) == route_of(*topology, 1, 14));
  CHECK(route_of(*topology, 2, 15) != route_of(*topology, 1, 15));
  CHECK(rates_of(*topology, 0, 15) == Rates{kRate, kRate});
  const auto uneven = build_topology(cluster_of(2, 3, "nvswitch", "switch", 2));
  CHECK(way(*uneven, 1, 5) == "node0/nic0 > switch > node1/nic1");
}

TEST_CASE("NICs of one GPU are pooled where there are more NICs") {
  const auto even = build_topology(cluster_of(2, 2, "nvswitch", "switch", 8));
  CHECK(rates_of(*even, 0, 3) == Rates{4 * kRate, 4 * kRate});
  const auto uneven = build_topology(cluster_of(2, 4, "nvswitch", "switch", 5));
  // floor(j * 4 / 5) for NICs 0..4: GPUs 0, 0, 1, 2, 3
  CHECK(rates_of(*uneven, 0, 5) == Rates{2 * kRate, kRate});
}

TEST_CASE("ring of nodes: planes and hops") {
  const auto topology = build_topology(cluster_of(6, 2, "nvswitch", "ring", 2));
  CHECK(way(*topology, 10, 2) == "gpu10 > gpu0 > gpu2");
  CHECK(way(*topology, 3, 9) == "gpu3 > gpu5 > gpu7 > gpu9");  // half way round: up
  CHECK(latency_of(*topology, 3, 9) == 3 * kHop);
  CHECK(rates_of(*topology, 10, 2) == Rates{kRate, kRate});
  CHECK(topology->links().size() == 6 * 2 * 2 + 6 * 2 * 2);
}

TEST_CASE("between planes: the sender's plane, then the receiver's node") {
  const auto topology = build_topology(cluster_of(6, 2, "nvswitch", "ring", 2));
  CHECK(way(*topology, 0, 3) == "gpu0 > gpu2 > node1/nvswitch > gpu3");
  CHECK(latency_of(*topology, 0, 3) == kHop + kNodeLatency);
  const auto shared = build_topology(cluster_of(6, 4, "nvswitch", "ring", 2));
  CHECK(way(*shared, 0, 5) == "node0/nic0 > node1/nic0");  // GPU 5 is the second one on NIC 0 of node 1
  CHECK(way(*shared, 1, 6) == "node0/nic0 > node1/nic0 > node1/nvswitch > gpu6");
}

TEST_CASE("between planes: past the wiring of a node where NICs are faster") {
  Cluster cluster = cluster_of(6, 2, "nvswitch", "ring", 2);
  cluster.node.link_gb_per_s = 24;
  const auto topology = build_topology(cluster);
  CHECK(way(*topology, 0, 3) == "node0/nic0 > node1/nic0");  // gpu3 takes it from there
  CHECK(latency_of(*topology, 0, 3) == kHop);
  cluster.fabric.kind = "rail-optimized";
  CHECK(way(*build_topology(cluster), 0, 3) == "node0/nic1 > leaf1 > node1/nic1");
}

TEST_CASE("grid: dimension order, no way round") {
  Cluster cluster = cluster_of(12, 1, "none", "grid");
  cluster.fabric.shape = {3, 4};  // node 4 * row + column
  const auto grid = build_topology(cluster);
  CHECK(way(*grid, 0, 11) == "gpu0 > gpu4 > gpu8 > gpu9 > gpu10 > gpu11");
  CHECK(way(*grid, 11, 0) == "gpu11 > gpu7 > gpu3 > gpu2 > gpu1 > gpu0");
  CHECK(grid->links().size() == 2 * (2 * 4 + 3 * 3));
  CHECK(latency_of(*grid, 0, 11) == 5 * kHop);
  CHECK(rates_of(*grid, 0, 4) == Rates{kRate});
}

TEST_CASE("torus: dimension order, the shortest way round") {
  Cluster cluster = cluster_of(24, 1, "none", "torus");
  cluster.fabric.shape = {2, 3, 4};
  const auto torus = build_topology(cluster);
  // 23 is (1, 2, 3): one up, one down round the end, one down round the end.
  CHECK(way(*torus, 0, 23) == "gpu0 > gpu12 > gpu20 > gpu23");
  CHECK(way(*torus, 0, 2) == "gpu0 > gpu1 > gpu2");
  CHECK(way(*torus, 2, 0) == "gpu2 > gpu3 > gpu0");
  // Cables: 12 over the extent of two, 24 over each of the others.
  CHECK(torus->links().size() == 2 * (12 + 24 + 24));
}

TEST_CASE("grid and torus without a shape: the closest factors, the smaller one first") {
  const auto grid = build_topology(cluster_of(12, 1, "none", "grid"));
  CHECK(way(*grid, 0, 4) == "gpu0 > gpu4");
  const auto line = build_topology(cluster_of(7, 1, "none", "grid"));
  CHECK(line->links().size() == 2 * 6);
}

TEST_CASE("dragonfly: groups, routers and minimal routes") {
  // 24 nodes, 2 a router, 3 routers a group: 4 groups of 3 routers. With 2 links a router to other groups a
  // group has 6, two to each of the 3 others: to the next one from its first router, and so on.
  Cluster cluster = cluster_of(24, 1, "none", "dragonfly");
  cluster.fabric.shape = {2, 3, 2};
  const auto dragonfly = build_topology(cluster);
  CHECK(dragonfly->vertices() == 24 + 12);
  CHECK(dragonfly->links().size() == 24 * 2 + 4 * 3 * 2 + 4 * 3 * 2);
  CHECK(way(*dragonfly, 0, 1) == "gpu0 > router0 > gpu1");
  CHECK(way(*dragonfly, 0, 5) == "gpu0 > router0 > router2 > gpu5");
  // Group 0 to group 1: by router 0, which the third router of group 1 is joined to.
  CHECK(way(*dragonfly, 0, 10) == "gpu0 > router0 > router5 > gpu10");
  CHECK(way(*dragonfly, 4, 7) == "gpu4 > router2 > router0 > router5 > router3 > gpu7");
  CHECK(way(*dragonfly, 7, 4) == "gpu7 > router3 > router5 > router0 > router2 > gpu4");
  CHECK(latency_of(*dragonfly, 4, 7) == 4 * kHop);
  CHECK(rates_of(*dragonfly, 0, 5) == Rates{kRate, kRate, kRate});
  // Two links join a pair of groups: even and odd nodes get theirs over different ones.
  CHECK(route_of(*dragonfly, 0, 10)[1] != route_of(*dragonfly, 0, 11)[1]);
}

TEST_CASE("dragonfly: balanced without a shape, and as many groups as there are links") {
  // p = 2: 4 routers of 2 nodes a group, 2 links each: 9 groups, 72 nodes, one link between each pair.
  const auto balanced = build_topology(cluster_of(72, 1, "none", "dragonfly"));
  CHECK(balanced->vertices() == 72 + 36);
  CHECK(balanced->links().size() == 72 * 2 + 9 * 4 * 3 + 9 * 8);
  Cluster thin = cluster_of(72, 1, "none", "dragonfly");
  thin.fabric.shape = {2, 4, 1};
  CHECK(error_text(thin) ==
        "/cluster/fabric/shape: found 4 links of a group to others; allowed are 8 or more, for 9 groups");
  thin.fabric.shape = {2, 4};
  CHECK(error_pointer(thin) == "/cluster/fabric/shape");
}

TEST_CASE("star: leaves meet at node 0") {
  const auto star = build_topology(cluster_of(4, 2, "nvswitch", "star", 2));
  CHECK(way(*star, 3, 7) == "gpu3 > gpu1 > gpu7");
  CHECK(way(*star, 0, 4) == "gpu0 > gpu4");
  CHECK(latency_of(*star, 3, 7) == 2 * kHop);
  CHECK(star->links().size() == 4 * 2 * 2 + 3 * 2 * 2);
}

TEST_CASE("full mesh of nodes: one hop") {
  const auto mesh = build_topology(cluster_of(5, 1, "none", "full-mesh"));
  CHECK(mesh->links().size() == 20);
  CHECK(way(*mesh, 4, 1) == "gpu4 > gpu1");
  CHECK(latency_of(*mesh, 4, 1) == kHop);
}

}  // namespace
}  // namespace orrery::test
