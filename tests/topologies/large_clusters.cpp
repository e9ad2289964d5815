// 100,000 GPUs fit easily, and routes across them are short.
#include "tests/topologies/helpers.hpp"

namespace orrery::test {
namespace {

/// A spread of pairs over the whole cluster.
template <class Visit>
void sample_pairs(const Topology& topology, Visit visit) {
  std::uint64_t random = 2026;
  const auto draw = [&] {
    random = random * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::uint32_t>((random >> 32) % topology.gpus());
  };
  for (int i = 0; i < 10'000; ++i) {
    const std::uint32_t from = draw();
    visit(from, draw());
  }
}

TEST_CASE("100,000 GPUs on every switched fabric") {
  for (const char* fabric : {"switch", "fat-tree", "rail-optimized", "torus", "dragonfly"}) {
    const auto topology = build_topology(cluster_of(12'500, 8, "nvswitch", fabric, 8));
    CAPTURE(fabric);
    CHECK(topology->gpus() == 100'000);
    CHECK(topology->links().size() < 1'000'000);
    sample_pairs(*topology, [&](std::uint32_t from, std::uint32_t to) {
      const auto route = route_of(*topology, from, to);
      if (from == to) return;
      REQUIRE(topology->link(route.front()).from == VertexId{from});
      REQUIRE(topology->link(route.back()).to == VertexId{to});
      for (std::size_t i = 1; i < route.size(); ++i) {
        REQUIRE(topology->link(route[i - 1]).to == topology->link(route[i]).from);
      }
    });
  }
}

TEST_CASE("a million GPUs on a fat tree") {
  const auto topology = build_topology(cluster_of(125'000, 8, "nvswitch", "fat-tree", 8));
  // 8 links up and down in each node; each NIC has two links, and two more from its leaf to a spine;
  // 125,000 / 32 leaves are 3,906.25, so 3,907.
  CHECK(topology->links().size() == 2'000'000 + 2'000'000 + 3'907 * 256 * 2);
  CHECK(latency_of(*topology, 0, 999'999) == 3 * kHop);
}

}  // namespace
}  // namespace orrery::test
