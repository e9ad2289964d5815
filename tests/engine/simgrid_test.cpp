// An independent simulator on the same flows: SimGrid 3.32 and 4.1 (model CM02, factors 1, no cross
// traffic) give 1.378200000 s and 1.474365525 s for these 100 rounds on a fat tree, to their last
// printed digit.
#include <doctest/doctest.h>

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "sim/engine/engine.hpp"
#include "sim/engine/task_graph_builder.hpp"
#include "sim/network/flow_network.hpp"

using namespace orrery;

namespace {

constexpr std::uint32_t kLeaves = 32;
constexpr std::uint32_t kPerLeaf = 32;
constexpr std::uint32_t kSpines = 16;
constexpr std::uint32_t kHosts = kLeaves * kPerLeaf;
constexpr std::uint32_t kRounds = 100;
constexpr std::int64_t kBandwidth = 50'000'000'000;

/// The generator of the workload, splitmix64: the flows are a fixed input shared with SimGrid.
std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// One cycle through all hosts (Sattolo).
std::vector<std::uint32_t> permutation(std::uint64_t round) {
  std::vector<std::uint32_t> to(kHosts);
  std::iota(to.begin(), to.end(), 0U);
  for (std::uint32_t i = kHosts - 1; i > 0; --i) std::swap(to[i], to[mix64((round << 32) | i) % i]);
  return to;
}

/// 100 MB, or 50 to 150 MB.
Bytes size(bool equal, std::uint64_t round, std::uint32_t from) {
  constexpr Bytes kHalf = 50'000'000;
  const std::uint64_t key = (round << 20) + from + (std::uint64_t{1} << 60);
  return equal ? 2 * kHalf : kHalf + static_cast<Bytes>(mix64(key) % (2 * kHalf + 1));
}

std::vector<LinkId> route(std::uint32_t from, std::uint32_t to) {
  const std::uint32_t leaf = from / kPerLeaf;
  const std::uint32_t far_leaf = to / kPerLeaf;
  if (leaf == far_leaf) return {LinkId{from}, LinkId{kHosts + to}};
  const std::uint32_t spine = to % kSpines;
  return {LinkId{from}, LinkId{2 * kHosts + leaf * kSpines + spine},
          LinkId{2 * kHosts + (kLeaves + far_leaf) * kSpines + spine}, LinkId{kHosts + to}};
}

TaskGraph rounds_of_permutations(bool equal) {
  TaskGraphBuilder build;
  const CostId barrier = build.add_duration(0);
  TaskId before = build.add_task(barrier);
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    const std::vector<std::uint32_t> to = permutation(round);
    std::vector<TaskId> flows;
    for (std::uint32_t host = 0; host < kHosts; ++host) {
      const auto links = route(host, to[host]);
      const CostId cost = build.add_message(size(equal, round, host), kBandwidth, 2'000'000, links);
      flows.push_back(build.add_task(cost, {before}));
    }
    before = build.add_task(barrier, flows);
  }
  return std::move(build).finish();
}

std::int64_t simulated_ns(const TaskGraph& graph) {
  FlowNetwork network(std::vector<std::int64_t>(2 * kHosts + 2 * kLeaves * kSpines, kBandwidth));
  return (run(graph, network).makespan_ps + 500) / 1000;
}

}  // namespace

TEST_CASE("100,000 contending flows take as long as in SimGrid") {
  CHECK(simulated_ns(rounds_of_permutations(true)) == 1'378'200'000);
  CHECK(simulated_ns(rounds_of_permutations(false)) == 1'474'365'525);
}
