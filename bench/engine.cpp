// Hot paths of the engine on the workloads of bench/workloads.hpp. Items are tasks.
#include "sim/engine/engine.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <numeric>
#include <vector>

#include "bench/workload_graphs.hpp"
#include "sim/network/flow_network.hpp"

namespace {

using namespace orrery;
using namespace orrery::bench;

/// Returns the tasks renumbered: task old_id[i] becomes task i.
TaskGraph renumbered(const TaskGraph& graph, const std::vector<std::uint32_t>& old_id) {
  std::vector<std::uint32_t> new_id(old_id.size());
  for (std::uint32_t i = 0; i < old_id.size(); ++i) new_id[old_id[i]] = i;
  TaskGraph out{.cost = {},
                .pred_begin = {0},
                .preds = {},
                .costs = graph.costs,
                .legs = graph.legs,
                .uses = graph.uses};
  for (const std::uint32_t old : old_id) {
    out.cost.push_back(graph.cost[old]);
    for (const std::uint32_t pred : graph.predecessors(old)) out.preds.push_back(new_id[pred]);
    out.pred_begin.push_back(static_cast<std::uint32_t>(out.preds.size()));
  }
  return out;
}

/// Ids against the order of time.
TaskGraph reversed(const TaskGraph& graph) {
  std::vector<std::uint32_t> old_id(graph.tasks());
  std::iota(old_id.rbegin(), old_id.rend(), 0U);
  return renumbered(graph, old_id);
}

TrainingSteps training(std::uint32_t replicas) { return {replicas, 1}; }

void count(benchmark::State& state, const TaskGraph& graph, const Timeline& timeline) {
  state.SetItemsProcessed(state.iterations() * graph.tasks());
  state.counters["tasks"] = graph.tasks();
  state.counters["simulated_s"] = to_seconds(timeline.makespan_ps);
}

void run_free(benchmark::State& state, const TaskGraph& graph) {
  Timeline timeline;
  for (auto _ : state) {
    timeline = run_contention_free(graph);
    benchmark::DoNotOptimize(timeline.makespan_ps);
  }
  count(state, graph, timeline);
}

void run_events(benchmark::State& state, const WorkloadGraph& workload) {
  FlowNetwork network(workload.bytes_per_s);
  Timeline timeline;
  for (auto _ : state) {
    timeline = run(workload.graph, network);
    benchmark::DoNotOptimize(timeline.makespan_ps);
  }
  count(state, workload.graph, timeline);
}

void repeat_ring(benchmark::State& state) {
  const Ring ring{static_cast<std::uint32_t>(state.range(0))};
  const RepeatedGraph graph = ring_graph(ring);
  for (auto _ : state) benchmark::DoNotOptimize(run_contention_free(graph).makespan_ps);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(ring.messages()));
}

std::uint32_t argument(const benchmark::State& state) { return static_cast<std::uint32_t>(state.range(0)); }

void sweep_ring(benchmark::State& state) { run_free(state, unroll(ring_graph(Ring{argument(state)}))); }
void sweep_step(benchmark::State& state) { run_free(state, training_graph(training(argument(state))).graph); }
void kahn_step(benchmark::State& state) {
  run_free(state, reversed(training_graph(training(argument(state))).graph));
}
void events_ring(benchmark::State& state) {
  const std::uint32_t ranks = argument(state);
  run_events(state, {unroll(ring_graph(Ring{ranks})), std::vector<std::int64_t>(ranks, kLinkBytesPerS)});
}
void events_step(benchmark::State& state) { run_events(state, training_graph(training(argument(state)))); }
void events_gossip(benchmark::State& state) { run_events(state, gossip_graph(Gossip{argument(state)})); }
void build_ring(benchmark::State& state) {
  const Ring ring{argument(state)};
  for (auto _ : state) benchmark::DoNotOptimize(unroll(ring_graph(ring)).tasks());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(ring.messages()));
}
void build_step(benchmark::State& state) {
  const TrainingSteps steps = training(argument(state));
  for (auto _ : state) benchmark::DoNotOptimize(training_graph(steps).graph.tasks());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(steps.tasks()));
}

BENCHMARK(repeat_ring)->Arg(256)->Arg(1024)->Arg(4096)->Unit(benchmark::kMillisecond);
BENCHMARK(sweep_ring)->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(sweep_step)->Arg(16)->Arg(160)->Unit(benchmark::kMillisecond);
BENCHMARK(kahn_step)->Arg(16)->Arg(160)->Unit(benchmark::kMillisecond);
BENCHMARK(events_ring)->Arg(256)->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(events_step)->Arg(1)->Arg(16)->Arg(160)->Unit(benchmark::kMillisecond);
BENCHMARK(events_gossip)->Arg(100)->Unit(benchmark::kMillisecond);
BENCHMARK(build_ring)->Arg(1024)->Unit(benchmark::kMillisecond);
BENCHMARK(build_step)->Arg(16)->Unit(benchmark::kMillisecond);

}  // namespace
