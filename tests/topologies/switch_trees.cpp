// Fat trees and rails: levels, D-mod-k, oversubscription.
#include <algorithm>
#include <map>
#include <set>

#include "tests/topologies/helpers.hpp"

namespace orrery::test {
namespace {

using Rates = std::vector<std::int64_t>;

Cluster tree_of(std::int64_t nodes, std::vector<std::int64_t> shape, double oversubscription = 1) {
  Cluster cluster = cluster_of(nodes, 1, "none", "fat-tree");
  cluster.fabric.shape = std::move(shape);
  cluster.fabric.oversubscription = oversubscription;
  return cluster;
}

/// Routes that cross the busiest link when every GPU sends to the one `shift` further on.
int busiest_link(const Topology& topology, std::uint32_t shift) {
  std::map<LinkId, int> load;
  int busiest = 0;
  for (std::uint32_t gpu = 0; gpu < topology.gpus(); ++gpu) {
    for (const LinkId id : route_of(topology, gpu, (gpu + shift) % topology.gpus())) {
      busiest = std::max(busiest, ++load[id]);
    }
  }
  return busiest;
}

TEST_CASE("fat tree: 1, 3, 5 switches") {
  const auto tree = build_topology(tree_of(8, {2, 2, 2}));
  CHECK(way(*tree, 0, 1) == "gpu0 > leaf0 > gpu1");
  // GPU 3 is reached through way 3 mod 2 of its leaf's group.
  CHECK(way(*tree, 0, 3) == "gpu0 > leaf0 > spine1 > leaf1 > gpu3");
  // GPU 6 through spine 6 mod 2 of either group and core 6 mod 4.
  CHECK(way(*tree, 0, 6) == "gpu0 > leaf0 > spine0 > core2 > spine2 > leaf3 > gpu6");
  CHECK(latency_of(*tree, 0, 1) == kHop);
  CHECK(latency_of(*tree, 0, 3) == 3 * kHop);
  CHECK(latency_of(*tree, 0, 6) == 5 * kHop);
  CHECK(rates_of(*tree, 0, 6) == Rates(6, kRate));
  CHECK(tree->vertices() == 8 + 4 + 4 + 4);
  const auto route = route_of(*tree, 0, 3);
  CHECK(tree->link(route[0]).kind == LinkKind::nic);
  CHECK(tree->link(route[1]).kind == LinkKind::fabric);
  CHECK(tree->link(route[3]).kind == LinkKind::nic);
}

TEST_CASE("fat tree: levels that nothing needs are left out") {
  CHECK(build_topology(tree_of(8, {8, 4, 4}))->vertices() == 8 + 1);
  CHECK(build_topology(tree_of(8, {4, 1000, 1000}))->vertices() == 8 + 2 + 4);
  CHECK(build_topology(tree_of(20, {}))->vertices() == 20 + 1);
  // 32 nodes per leaf: two leaves, 32 spines.
  CHECK(build_topology(tree_of(40, {}))->vertices() == 40 + 2 + 32);
}

TEST_CASE("D-mod-k: shifts do not collide on a tree that is not oversubscribed") {
  for (const auto& shape : {std::vector<std::int64_t>{4, 4}, {4, 2, 2}, {2, 2, 2, 2}}) {
    const auto tree = build_topology(tree_of(16, shape));
    for (std::uint32_t shift = 1; shift < 16; ++shift) CHECK(busiest_link(*tree, shift) == 1);
  }
}

TEST_CASE("D-mod-k: the destinations behind a leaf use all spines") {
  const auto tree = build_topology(tree_of(64, {8, 8}));
  std::set<LinkId> ups;
  for (std::uint32_t to = 8; to < 16; ++to) ups.insert(route_of(*tree, 0, to)[1]);
  CHECK(ups.size() == 8);
  // All senders of a leaf reach a destination through one way up.
  CHECK(route_of(*tree, 0, 9)[1] == route_of(*tree, 7, 9)[1]);
}

TEST_CASE("adaptive routing: the ways up of a switch are one link of their summed rate") {
  for (const double oversubscription : {1.0, 2.0}) {
    Cluster cluster = tree_of(16, {4, 2, 2}, oversubscription);
    cluster.fabric.adaptive_routing = true;
    const auto tree = build_topology(cluster);
    CHECK(tree->vertices() == 16 + 4 + 2 + 1);
    CHECK(way(*tree, 0, 5) == "gpu0 > leaf0 > spine0 > leaf1 > gpu5");
    CHECK(way(*tree, 0, 15) == "gpu0 > leaf0 > spine0 > core0 > spine1 > leaf3 > gpu15");
    const auto up = static_cast<std::int64_t>(4 * kRate / oversubscription);
    CHECK(rates_of(*tree, 0, 15) == Rates{kRate, up, 2 * up, 2 * up, up, kRate});
  }
}

TEST_CASE("oversubscription: capacity of a leaf, downwards over upwards") {
  for (const double oversubscription : {1.0, 1.5, 2.0, 3.0, 8.0, 20.0}) {
    const auto tree = build_topology(tree_of(24, {8, 3}, oversubscription));
    double down = 0;
    double up = 0;
    for (const Link& link : tree->links()) {
      if (tree->vertex_name(link.from) != "leaf1") continue;
      (link.kind == LinkKind::nic ? down : up) += static_cast<double>(link.bytes_per_s);
      CHECK(link.bytes_per_s <= kRate);
    }
    CHECK(down == 8.0 * kRate);
    CHECK(down / up == doctest::Approx(oversubscription).epsilon(1e-9));
  }
}

TEST_CASE("fat tree: all NICs of a node are plugged into its leaf") {
  Cluster cluster = cluster_of(4, 2, "nvswitch", "fat-tree", 2);
  cluster.fabric.shape = {2, 2};
  const auto tree = build_topology(cluster);
  CHECK(way(*tree, 0, 3) == "gpu0 > leaf0 > gpu3");
  // Slot 7 mod 4 ways up.
  CHECK(way(*tree, 0, 7) == "gpu0 > leaf0 > spine3 > leaf1 > gpu7");
}

TEST_CASE("rails: own rail directly, other rails over the node's wiring") {
  const auto rails = build_topology(cluster_of(4, 2, "nvswitch", "rail-optimized", 2));
  CHECK(way(*rails, 0, 6) == "gpu0 > leaf0 > gpu6");
  CHECK(way(*rails, 1, 7) == "gpu1 > leaf1 > gpu7");
  CHECK(way(*rails, 0, 7) == "gpu0 > node0/nvswitch > gpu1 > leaf1 > gpu7");
  CHECK(latency_of(*rails, 0, 6) == kHop);
  CHECK(latency_of(*rails, 0, 7) == kNodeLatency + kHop);
  CHECK(rails->vertices() == 8 + 4 + 2);  // no spine
}

TEST_CASE("rails with shared NICs: the GPU that stands where the receiver stands") {
  const auto rails = build_topology(cluster_of(2, 4, "nvswitch", "rail-optimized", 2));
  CHECK(way(*rails, 0, 7) == "gpu0 > node0/nvswitch > gpu3 > leaf1 > node1/nic1");
  CHECK(way(*rails, 0, 5) == "node0/nic0 > leaf0 > node1/nic0");
}

TEST_CASE("rails over several leaves meet in spines") {
  Cluster cluster = cluster_of(4, 2, "nvswitch", "rail-optimized", 2);
  cluster.fabric.shape = {2};
  const auto rails = build_topology(cluster);
  // Leaves: nodes 0-1 on rails 0 and 1, then nodes 2-3. Node 3 is reached through spine 3 mod 2.
  CHECK(way(*rails, 0, 2) == "gpu0 > leaf0 > gpu2");
  CHECK(way(*rails, 0, 6) == "gpu0 > leaf0 > spine1 > leaf2 > gpu6");
  CHECK(way(*rails, 0, 7) == "gpu0 > node0/nvswitch > gpu1 > leaf1 > spine1 > leaf3 > gpu7");
  CHECK(latency_of(*rails, 0, 6) == 3 * kHop);
}

TEST_CASE("rails of nodes without wiring meet in spines") {
  const auto rails = build_topology(cluster_of(2, 2, "none", "rail-optimized", 2));
  CHECK(way(*rails, 0, 2) == "gpu0 > leaf0 > gpu2");
  CHECK(way(*rails, 0, 1) == "gpu0 > leaf0 > spine0 > leaf1 > gpu1");
  CHECK(way(*rails, 0, 3) == "gpu0 > leaf0 > spine1 > leaf1 > gpu3");
}

}  // namespace
}  // namespace orrery::test
