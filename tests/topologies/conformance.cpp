// Checks properties of every row of both tables: routes are connected, repeat nothing and are reproducible;
// every vertex has a name of its own; rings are permutations.
#include <algorithm>
#include <set>

#include "tests/topologies/helpers.hpp"

namespace orrery::test {
namespace {

struct Case {
  Cluster cluster;
  std::unique_ptr<Topology> topology;
};

/// The NIC vertex that a GPU counts as joined to, by name; the name of no vertex if it owns its NIC.
std::string nic_of(const Cluster& cluster, std::uint32_t gpu) {
  const std::int64_t local = gpu % cluster.gpus_per_node;
  return "node" + std::to_string(gpu / cluster.gpus_per_node) + "/nic" +
         std::to_string(local * cluster.fabric.nics_per_node / cluster.gpus_per_node);
}

bool joined(const Case& it, VertexId a, VertexId b) {
  if (a == b) return true;
  if (index(a) > index(b)) std::swap(a, b);
  return index(a) < it.topology->gpus() && it.topology->vertex_name(b) == nic_of(it.cluster, index(a));
}

void check_route(const Case& it, std::uint32_t from, std::uint32_t to) {
  const Topology& topology = *it.topology;
  const std::vector<LinkId> route = route_of(topology, from, to);
  CAPTURE(from);
  CAPTURE(to);
  REQUIRE(route.empty() == (from == to));
  CHECK(route == route_of(topology, from, to));
  CHECK(std::set<LinkId>(route.begin(), route.end()).size() == route.size());
  VertexId at{from};
  for (const LinkId id : route) {
    REQUIRE(index(id) < topology.links().size());
    CHECK(joined(it, at, topology.link(id).from));
    at = topology.link(id).to;
  }
  CHECK(joined(it, at, VertexId{to}));
}

/// The part of a route's latency that the fabric has, as kHop is more than all of a node's together.
void check_latency(const Case& it, std::uint32_t from, std::uint32_t to) {
  const Picoseconds latency = latency_of(*it.topology, from, to);
  const bool joined = it.topology->domain_of(GpuId{from}) == it.topology->domain_of(GpuId{to});
  const bool in_fabric = !joined || (it.cluster.node.kind == "none" && from != to);
  CHECK((latency / kHop > 0) == in_fabric);
  CHECK(latency % kNodeLatency == 0);
}

void check_links(const Topology& topology) {
  for (const Link& link : topology.links()) {
    REQUIRE(index(link.from) < topology.vertices());
    REQUIRE(index(link.to) < topology.vertices());
    REQUIRE(link.from != link.to);
    REQUIRE(link.bytes_per_s > 0);
    REQUIRE(link.latency_ps >= 0);
  }
  std::set<std::string> names;
  for (std::uint32_t v = 0; v < topology.vertices(); ++v) names.insert(topology.vertex_name(VertexId{v}));
  CHECK(names.size() == topology.vertices());
}

void check_rings(const Topology& topology, std::uint32_t first, std::uint32_t count) {
  std::vector<GpuId> members;
  for (std::uint32_t i = 0; i < count; ++i) members.push_back(GpuId{first + i});
  const auto rings = topology.node_rings(members);
  CHECK_FALSE(rings.empty());
  CHECK(rings == topology.node_rings(members));
  for (const std::vector<GpuId>& ring : rings) {
    CHECK(ring.size() == members.size());
    CHECK(std::is_permutation(ring.begin(), ring.end(), members.begin(), members.end()));
  }
}

void check_all(const Cluster& cluster) {
  const Case it{cluster, build_topology(cluster)};
  CHECK(it.topology->gpus() == cluster.gpus());
  CHECK(it.topology->gpus_per_node() == cluster.gpus_per_node);
  check_links(*it.topology);
  for (std::uint32_t from = 0; from < cluster.gpus(); ++from) {
    for (std::uint32_t to = 0; to < cluster.gpus(); ++to) {
      check_route(it, from, to);
      check_latency(it, from, to);
    }
  }
  for (std::uint32_t count = 1; count <= cluster.gpus_per_node; ++count) {
    const auto last_node = static_cast<std::uint32_t>((cluster.nodes - 1) * cluster.gpus_per_node);
    check_rings(*it.topology, last_node, count);
  }
}

bool joins_nodes_only(std::string_view fabric) {
  return fabric != "switch" && fabric != "fat-tree" && fabric != "rail-optimized" && fabric != "dragonfly";
}

TEST_CASE("every wiring with every fabric") {
  for (const NodeWiringEntry& wiring : node_wirings()) {
    for (const FabricEntry& fabric : fabrics()) {
      CHECK_FALSE(wiring.summary.empty());
      CHECK_FALSE(fabric.summary.empty());
      if (wiring.name == "none" && joins_nodes_only(fabric.name)) continue;
      for (const std::int64_t nics : {1, 3, 7, 8}) {
        CAPTURE(wiring.name);
        CAPTURE(fabric.name);
        CAPTURE(nics);
        check_all(cluster_of(6, 7, std::string(wiring.name), std::string(fabric.name), nics));
      }
    }
  }
}

TEST_CASE("several leaves, partly filled") {
  for (const char* fabric : {"fat-tree", "rail-optimized"}) {
    for (const char* wiring : {"nvswitch", "none"}) {
      for (const double oversubscription : {1.0, 1.5, 4.0}) {
        Cluster cluster = cluster_of(11, 4, wiring, fabric, 4);
        cluster.fabric.oversubscription = oversubscription;
        cluster.fabric.shape = {3};
        if (cluster.fabric.kind == "fat-tree") cluster.fabric.shape = {3, 2, 5};
        check_all(cluster);
      }
    }
  }
}

TEST_CASE("domains of several nodes with every fabric, the last one not full") {
  for (const FabricEntry& fabric : fabrics()) {
    for (const std::int64_t nics : {1, 2, 3, 5}) {
      for (const std::int64_t domain_nodes : {2, 4, 5, 9}) {
        CAPTURE(fabric.name);
        CAPTURE(nics);
        CAPTURE(domain_nodes);
        Cluster cluster = cluster_of(7, 3, "nvswitch", std::string(fabric.name), nics);
        cluster.node.domain_nodes = domain_nodes;
        check_all(cluster);
      }
    }
  }
}

TEST_CASE("small nodes, and fabrics of one GPU per node") {
  for (const NodeWiringEntry& wiring : node_wirings()) {
    for (const std::int64_t gpus : {1, 2, 3}) {
      check_all(cluster_of(1, gpus, std::string(wiring.name), "switch"));
    }
  }
  for (const FabricEntry& fabric : fabrics()) {
    for (const std::int64_t nodes : {1, 2, 3, 4, 12, 13}) {
      check_all(cluster_of(nodes, 1, "none", std::string(fabric.name)));
    }
  }
}

}  // namespace
}  // namespace orrery::test
