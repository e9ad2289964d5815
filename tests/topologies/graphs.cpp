#include "tests/topologies/helpers.hpp"

namespace orrery::test {
namespace {

Cluster graph_of(std::int64_t gpus, std::vector<std::string> vertices, std::vector<GraphLink> links) {
  Cluster cluster;
  cluster.gpus_per_node = 1;
  cluster.nodes = gpus;
  cluster.graph = Graph{std::move(vertices), std::move(links)};
  return cluster;
}

/// Two GPUs, a slow direct link and a quick way over two switches.
Cluster detour(double direct_us) {
  return graph_of(2, {"a", "gpu1", "b", "gpu0"},
                  {{"gpu0", "gpu1", 100, direct_us, true},
                   {"gpu0", "a", 10, 1, true},
                   {"a", "b", 10, 1, true},
                   {"b", "gpu1", 10, 1, true}});
}

TEST_CASE("graph: least latency, then fewest links") {
  CHECK(way(*build_topology(detour(4)), 0, 1) == "gpu0 > a > b > gpu1");
  CHECK(way(*build_topology(detour(3)), 0, 1) == "gpu0 > gpu1");
  const auto graph = build_topology(detour(4));
  CHECK(graph->vertices() == 4);
  CHECK(graph->vertex_name(VertexId{2}) == "a");
  CHECK(latency_of(*graph, 1, 0) == 3 * kPicosecondsPerMicrosecond);
  CHECK(rates_of(*graph, 0, 1) == std::vector<std::int64_t>(3, 10'000'000'000));
  CHECK(graph->link(LinkId{0}).kind == LinkKind::graph);
  CHECK(graph->links().size() == 8);
}

TEST_CASE("graph: of equal ways the first link as written") {
  const std::vector<std::string> vertices{"gpu0", "gpu1", "a", "b"};
  const GraphLink over_b{"gpu0", "b", 1, 0, true};
  const GraphLink over_a{"gpu0", "a", 1, 0, true};
  const GraphLink a_out{"a", "gpu1", 1, 0, true};
  const GraphLink b_out{"b", "gpu1", 1, 0, true};
  CHECK(way(*build_topology(graph_of(2, vertices, {over_b, over_a, a_out, b_out})), 0, 1) ==
        "gpu0 > b > gpu1");
  CHECK(way(*build_topology(graph_of(2, vertices, {over_a, over_b, a_out, b_out})), 0, 1) ==
        "gpu0 > a > gpu1");
}

TEST_CASE("graph: links of one direction") {
  const auto ring = build_topology(graph_of(
      3, {"gpu0", "gpu1", "gpu2"},
      {{"gpu0", "gpu1", 1, 1, false}, {"gpu1", "gpu2", 1, 1, false}, {"gpu2", "gpu0", 1, 1, false}}));
  CHECK(ring->links().size() == 3);
  CHECK(way(*ring, 1, 0) == "gpu1 > gpu2 > gpu0");
}

TEST_CASE("graph: a grid agrees with the grid fabric in latency") {
  std::vector<std::string> vertices;
  std::vector<GraphLink> links;
  for (int i = 0; i < 12; ++i) vertices.push_back("gpu" + std::to_string(i));
  for (std::size_t i = 0; i < 12; ++i) {
    if (i % 4 != 3) links.push_back({vertices[i], vertices[i + 1], 25, 10, true});
    if (i < 8) links.push_back({vertices[i], vertices[i + 4], 25, 10, true});
  }
  const auto graph = build_topology(graph_of(12, vertices, links));
  const auto grid = build_topology(cluster_of(12, 1, "none", "grid"));
  for (std::uint32_t from = 0; from < 12; ++from) {
    for (std::uint32_t to = 0; to < 12; ++to) {
      CHECK(latency_of(*graph, from, to) == latency_of(*grid, from, to));
    }
  }
}

TEST_CASE("graph: errors point at what is wrong") {
  const std::string base = "/cluster/graph/";
  const GraphLink good{"gpu0", "gpu1", 1, 1, true};
  const auto pointer = [](std::vector<std::string> vertices, std::vector<GraphLink> links) {
    return error_pointer(graph_of(2, std::move(vertices), std::move(links)));
  };
  CHECK(pointer({"gpu0", "gpu1"}, {good}) == "built");
  CHECK(pointer({"gpu0", "gpu1", "gpu2"}, {good}) == base + "vertices/2");
  CHECK(pointer({"gpu0", "gpu01", "gpu1"}, {good}) == base + "vertices/1");
  CHECK(pointer({"gpu0", "gpu1", "gpu0"}, {good}) == base + "vertices/2");
  CHECK(pointer({"gpu0", "x", "gpu1", "x"}, {good}) == base + "vertices/3");
  CHECK(pointer({"gpu0", "x"}, {good}) == base + "vertices");
  CHECK(pointer({"gpu0", "gpu1"}, {}) == base + "links");
  CHECK(pointer({"gpu0", "gpu1"}, {{"gpu0", "gpu1", 1, 1, false}}) == base + "links");
  CHECK(pointer({"gpu0", "gpu1"}, {good, {"gpu7", "gpu1", 1, 1, true}}) == base + "links/1/from");
  CHECK(pointer({"gpu0", "gpu1"}, {good, {"gpu1", "y", 1, 1, true}}) == base + "links/1/to");
  CHECK(pointer({"gpu0", "gpu1"}, {{"gpu0", "gpu0", 1, 1, true}}) == base + "links/0/to");
  CHECK(pointer({"gpu0", "gpu1"}, {{"gpu0", "gpu1", 0, 1, true}}) == base + "links/0/gb_per_s");
  CHECK(pointer({"gpu0", "gpu1"}, {{"gpu0", "gpu1", 1, -1, true}}) == base + "links/0/latency_us");
  CHECK(error_pointer(graph_of(5000, std::vector<std::string>(5000, "gpu0"), {})) == base + "vertices");
}

}  // namespace
}  // namespace orrery::test
