#include <algorithm>
#include <map>

#include "tests/topologies/helpers.hpp"

namespace orrery::test {
namespace {

using Ring = std::vector<GpuId>;

Ring gpus(const std::vector<std::uint32_t>& numbers) {
  Ring out;
  for (const std::uint32_t number : numbers) out.push_back(GpuId{number});
  return out;
}

std::vector<Ring> rings_of(const std::string& wiring, std::int64_t count, const Ring& members) {
  return build_topology(cluster_of(2, count, wiring, "switch", count))->node_rings(members);
}

/// Returns the bandwidth that all rings together move past a GPU when each takes an equal share, in links of
/// 25 GB/s: rings / (uses / links) on the most loaded link.
double ring_bandwidth(const std::string& wiring, std::int64_t count, const Ring& members) {
  const auto node = build_topology(cluster_of(1, count, wiring, "switch"));
  const auto rings = node->node_rings(members);
  std::map<LinkId, double> seconds;
  double slowest = 0;
  for (const Ring& ring : rings) {
    for (std::size_t i = 0; i < ring.size(); ++i) {
      std::vector<LinkId> route;
      node->route(ring[i], ring[(i + 1) % ring.size()], route);
      for (const LinkId id : route) {
        seconds[id] += 25e9 / static_cast<double>(node->link(id).bytes_per_s);
        slowest = std::max(slowest, seconds[id]);
      }
    }
  }
  return static_cast<double>(rings.size()) / slowest;
}

const std::vector<std::uint32_t> kEight{0, 1, 2, 3, 4, 5, 6, 7};

TEST_CASE("nvswitch: ring c starts at member c") {
  CHECK(rings_of("nvswitch", 4, gpus({4, 6, 5})) ==
        std::vector<Ring>{gpus({4, 6, 5}), gpus({6, 5, 4}), gpus({5, 4, 6})});
  CHECK(rings_of("nvswitch", 4, gpus({7})) == std::vector<Ring>{gpus({7})});
  CHECK(rings_of("nvswitch", 72, gpus(kEight)).size() == 8);
}

TEST_CASE("hybrid cube mesh: six tours fill all NVLinks of a DGX-1") {
  CHECK(ring_bandwidth("hybrid-cube-mesh", 8, gpus(kEight)) == doctest::Approx(6));
  // The natural order crosses 3-4, which has no link, and links of one.
  CHECK(rings_of("hybrid-cube-mesh", 8, gpus(kEight)).size() == 24);
}

TEST_CASE("hybrid cube mesh: parts of a node") {
  CHECK(ring_bandwidth("hybrid-cube-mesh", 8, gpus({0, 1, 2, 3})) == doctest::Approx(4));
  CHECK(ring_bandwidth("hybrid-cube-mesh", 8, gpus({4, 5, 6, 7})) == doctest::Approx(4));
  CHECK(ring_bandwidth("hybrid-cube-mesh", 8, gpus({0, 3})) == doctest::Approx(2));
  CHECK(ring_bandwidth("hybrid-cube-mesh", 8, gpus({0, 1})) == doctest::Approx(1));
  CHECK(ring_bandwidth("hybrid-cube-mesh", 8, gpus({0, 1, 2})) == doctest::Approx(2));
  // Without a link between 1 and 4, both ways round go through 0 twice.
  CHECK(ring_bandwidth("hybrid-cube-mesh", 8, gpus({0, 1, 4})) >= 1);
  for (std::int64_t count = 3; count <= 8; ++count) {
    std::vector<std::uint32_t> first(kEight.begin(), kEight.begin() + count);
    CAPTURE(count);
    CHECK(ring_bandwidth("hybrid-cube-mesh", count, gpus(first)) >= 1);
  }
}

TEST_CASE("ring: both ways round, in order of index") {
  CHECK(ring_bandwidth("ring", 8, gpus({3, 1, 0, 2, 7, 6, 5, 4})) == doctest::Approx(2));
  CHECK(rings_of("ring", 8, gpus(kEight)).size() == 8);
}

TEST_CASE("full mesh: tours without a common link") {
  CHECK(ring_bandwidth("full-mesh", 8, gpus(kEight)) == doctest::Approx(6));
  CHECK(ring_bandwidth("full-mesh", 7, gpus({0, 1, 2, 3, 4, 5, 6})) == doctest::Approx(6));
  CHECK(ring_bandwidth("full-mesh", 8, gpus({1, 4, 6})) == doctest::Approx(2));
  CHECK(ring_bandwidth("full-mesh", 8, gpus({1, 4})) == doctest::Approx(1));
}

TEST_CASE("rings start and end evenly over the members") {
  for (const char* wiring :
       {"nvswitch", "hybrid-cube-mesh", "ring", "full-mesh", "pcie", "pcie-host", "none"}) {
    const auto rings = rings_of(wiring, 8, gpus(kEight));
    const auto share = static_cast<std::ptrdiff_t>(rings.size() / 8);
    CAPTURE(wiring);
    for (const std::uint32_t gpu : kEight) {
      CHECK(std::count_if(rings.begin(), rings.end(),
                          [&](const Ring& ring) { return ring.front() == GpuId{gpu}; }) == share);
      const auto ends = std::count_if(rings.begin(), rings.end(),
                                      [&](const Ring& ring) { return ring.back() == GpuId{gpu}; });
      CHECK(ends >= 1);
      CHECK(ends <= share + 1);
    }
  }
}

TEST_CASE("rings of another node name its GPUs") {
  const auto rings = rings_of("hybrid-cube-mesh", 8, gpus({8, 9, 10, 11, 12, 13, 14, 15}));
  for (const Ring& ring : rings) {
    for (const GpuId gpu : ring) CHECK(index(gpu) / 8 == 1);
  }
}

}  // namespace
}  // namespace orrery::test
