// Hot path of the flow network: rounds of permutations over a fat tree of 32 leaves with 32 hosts each
// and 16 spines, 100 MB a flow, 50 GB/s a link. Items are flows; `solved` is flows looked at per flow.
// With destination routing the fabric falls into 16 parts; with hashed routing over 4 of the spines, all
// 1,024 flows are tied in one component until most have ended.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "sim/engine/engine.hpp"
#include "sim/engine/task_graph_builder.hpp"
#include "sim/network/flow_network.hpp"

namespace {

using namespace orrery;

constexpr std::uint32_t kLeaves = 32;
constexpr std::uint32_t kPerLeaf = 32;
constexpr std::uint32_t kSpines = 16;
constexpr std::uint32_t kHosts = kLeaves * kPerLeaf;
constexpr std::uint32_t kLinks = 2 * kHosts + 2 * kLeaves * kSpines;
constexpr std::int64_t kBandwidth = 50'000'000'000;

enum class Sizes { equal, random };
enum class Spines { by_destination, four_hashed };

std::vector<LinkId> route(std::uint32_t from, std::uint32_t to, std::uint32_t spine) {
  const std::uint32_t leaf = from / kPerLeaf;
  const std::uint32_t far_leaf = to / kPerLeaf;
  if (leaf == far_leaf) return {LinkId{from}, LinkId{kHosts + to}};
  return {LinkId{from}, LinkId{2 * kHosts + leaf * kSpines + spine},
          LinkId{2 * kHosts + (kLeaves + far_leaf) * kSpines + spine}, LinkId{kHosts + to}};
}

/// Rounds of a random permutation without fixed points (Sattolo); a round waits for the one before.
TaskGraph permutations(std::uint32_t rounds, Sizes sizes, Spines spines) {
  TaskGraphBuilder build;
  std::mt19937_64 random(1);
  const CostId barrier = build.add_duration(0);
  TaskId before = build.add_task(barrier);
  std::vector<std::uint32_t> to(kHosts);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    std::iota(to.begin(), to.end(), 0U);
    for (std::uint32_t i = kHosts - 1; i > 0; --i) std::swap(to[i], to[random() % i]);
    std::vector<TaskId> flows;
    for (std::uint32_t host = 0; host < kHosts; ++host) {
      const auto spread = static_cast<Bytes>(random() % 100'000'001);
      const Bytes bytes = sizes == Sizes::equal ? 100'000'000 : 50'000'000 + spread;
      const auto hash = static_cast<std::uint32_t>(random() % 4);
      const auto links = route(host, to[host], spines == Spines::four_hashed ? hash : to[host] % kSpines);
      flows.push_back(build.add_task(build.add_message(bytes, kBandwidth, 2'000'000, links), {before}));
    }
    before = build.add_task(barrier, flows);
  }
  return std::move(build).finish();
}

void run_permutations(benchmark::State& state, std::uint32_t rounds, Sizes sizes, Spines spines) {
  const TaskGraph graph = permutations(rounds, sizes, spines);
  FlowNetwork network(std::vector<std::int64_t>(kLinks, kBandwidth));
  Timeline timeline;
  for (auto _ : state) {
    timeline = run(graph, network);
    benchmark::DoNotOptimize(timeline.makespan_ps);
  }
  const auto flows = static_cast<double>(state.iterations()) * kHosts * rounds;
  state.SetItemsProcessed(static_cast<std::int64_t>(flows));
  state.counters["solved"] = static_cast<double>(network.flows_solved()) / flows;
  state.counters["simulated_s"] = to_seconds(timeline.makespan_ps);
}

BENCHMARK_CAPTURE(run_permutations, equal, 20, Sizes::equal, Spines::by_destination)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_permutations, random, 20, Sizes::random, Spines::by_destination)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_permutations, random_all_tied, 4, Sizes::random, Spines::four_hashed)
    ->Unit(benchmark::kMillisecond);

}  // namespace
