// Hot path of the flow network: rounds of permutations over a fat tree (bench/workloads.hpp). Items are
// flows; `solved` is flows looked at per flow. With destination routing the fabric falls into 16 parts; with
// hashed routing over 4 of the spines, all 1,024 flows are tied in one component until most have ended.
#include <benchmark/benchmark.h>

#include <cstdint>

#include "bench/workload_graphs.hpp"
#include "sim/engine/engine.hpp"
#include "sim/network/flow_network.hpp"

namespace {

using namespace orrery;
using namespace orrery::bench;

void run_permutations(benchmark::State& state, std::uint32_t rounds, FlowSizes sizes, Spines spines) {
  const WorkloadGraph workload = permutation_graph(rounds, sizes, spines);
  FlowNetwork network(workload.bytes_per_s);
  Timeline timeline;
  for (auto _ : state) {
    timeline = run(workload.graph, network);
    benchmark::DoNotOptimize(timeline.makespan_ps);
  }
  const auto flows = static_cast<double>(state.iterations()) * Permutations::kHosts * rounds;
  state.SetItemsProcessed(static_cast<std::int64_t>(flows));
  state.counters["solved"] = static_cast<double>(network.flows_solved()) / flows;
  state.counters["simulated_s"] = to_seconds(timeline.makespan_ps);
}

BENCHMARK_CAPTURE(run_permutations, equal, 20, FlowSizes::equal, Spines::by_destination)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_permutations, random, 20, FlowSizes::random, Spines::by_destination)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(run_permutations, random_all_tied, 4, FlowSizes::random, Spines::hashed)
    ->Unit(benchmark::kMillisecond);

}  // namespace
