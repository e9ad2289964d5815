// Graph building: from an experiment to tasks, step by step, and whole runs. Items are tasks, plans
// for runs of the Megatron job, GPUs for large runs.
#include <benchmark/benchmark.h>

#include <memory>

#include "config/experiment/read_experiment.hpp"
#include "config/schema/menus.hpp"
#include "sim/run/run.hpp"
#include "sim/tasks/expand.hpp"
#include "sim/tasks/interference.hpp"
#include "topologies/common/topologies.hpp"
#include "workloads/lowering/lower.hpp"

namespace {

using namespace orrery;

/// The 145.6 B row of the Megatron table on 192 nodes; `data_parallel` scales nodes and batch.
Experiment megatron(std::int64_t data_parallel) {
  const std::string nodes = std::to_string(8 * data_parallel);
  const std::string text =
      R"({"model": "megatron-145b", "cluster": {"base": "dgx-a100-80gb", "nodes": )" + nodes +
      R"(}, "plan": {"tensor_parallel": 8, "pipeline_parallel": 8, "micro_batch_size": 2,
      "global_batch_size": )" +
      std::to_string(96 * data_parallel) +
      R"(, "pipeline_schedule": "interleaved-1f1b", "virtual_stages": 2, "recompute": "full"}})";
  return read_experiment_text(text, "bench", {}, Catalog::embedded(), menus()).experiment;
}

/// A run of the job, whose parts are made again.
struct Prepared {
  Experiment experiment;
  Run run;

  explicit Prepared(std::int64_t data_parallel)
      : experiment(megatron(data_parallel)), run(orrery::run(experiment)) {}
};

void count(benchmark::State& state, std::size_t items) {
  state.SetItemsProcessed(static_cast<std::int64_t>(items) * state.iterations());
}

void BM_Lower(benchmark::State& state) {
  const Experiment experiment = megatron(state.range(0));
  std::size_t operations = 0;
  for (auto _ : state) {
    const Workload workload = lower(experiment);
    operations = 0;
    for (const Program& program : workload.programs) operations += program.ops.size();
    benchmark::DoNotOptimize(operations);
  }
  count(state, operations);
}
BENCHMARK(BM_Lower)->Arg(1)->Arg(24)->Unit(benchmark::kMillisecond);

void BM_PriceWorks(benchmark::State& state) {
  const Prepared p(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(price_kernel_sequences(p.run.workload, p.experiment));
  count(state, p.run.workload.kernel_sequences.size());
}
BENCHMARK(BM_PriceWorks)->Arg(1)->Unit(benchmark::kMicrosecond);

void BM_Fold(benchmark::State& state) {
  const Prepared p(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        fold(p.run.workload, *p.run.channels, p.run.prices, *p.run.machine->topology, {}));
  }
  count(state, p.run.workload.ranks());
}
BENCHMARK(BM_Fold)->Arg(24)->Arg(96)->Unit(benchmark::kMillisecond);

void BM_Expand(benchmark::State& state) {
  const Prepared p(state.range(0));
  const Workload& workload = p.run.workload;
  const Channels& channels = *p.run.channels;
  const Folded each = unfolded(workload, share_all_links(channels, p.run.prices, *p.run.machine->topology));
  const ClassPositions positions = class_positions(workload, channels, each);
  std::size_t tasks = 0;
  for (auto _ : state) {
    ExpandedGraph expanded = expand(workload, channels, make_task_groups(workload, channels), positions);
    expanded.representatives = positions.representatives;
    Interference interference(workload, channels, p.run.prices,
                              std::make_shared<const InterferenceOrders>(interference_orders(workload)));
    set_costs(workload, channels, p.run.prices, each, interference, expanded);
    tasks = expanded.graph.tasks();
    benchmark::DoNotOptimize(tasks);
  }
  count(state, tasks);
}
BENCHMARK(BM_Expand)->Arg(1)->Arg(4)->Arg(24)->Unit(benchmark::kMillisecond);

void run_whole(benchmark::State& state, Folding folding) {
  Experiment experiment = megatron(state.range(0));
  experiment.simulation.folding = folding;
  for (auto _ : state) benchmark::DoNotOptimize(run(experiment).report.makespan_ps);
  count(state, 1);
}
void BM_RunFolded(benchmark::State& state) { run_whole(state, Folding::automatic); }
void BM_RunUnfolded(benchmark::State& state) { run_whole(state, Folding::off); }
BENCHMARK(BM_RunFolded)->Arg(1)->Arg(24)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_RunUnfolded)->Arg(1)->Arg(24)->Unit(benchmark::kMillisecond);

/// Llama 3.1 405B as its report ran it: 128 GPUs a replica on nodes of 8. 128 replicas fill leaf
/// switches of 32 nodes evenly; 784 and 7,816 do not.
Experiment llama(std::int64_t data_parallel, Network network) {
  const std::string replicas = std::to_string(data_parallel);
  const std::string batch = std::to_string(16 * data_parallel);
  Experiment experiment =
      read_experiment_text(
          R"({"model": "llama3.1-405b", "cluster": {"base": "dgx-h100", "nodes": )" + batch +
              R"(}, "plan": {"tensor_parallel": 8, "pipeline_parallel": 16, "data_parallel": )" + replicas +
              R"(, "global_batch_size": )" + batch + R"(, "micro_batch_size": 1, "sequence_parallel": true,
          "stage_layers": [7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7], "zero_stage": 1}})",
          "bench", {}, Catalog::embedded(), menus())
          .experiment;
  experiment.simulation.network = network;
  return experiment;
}

/// A whole run, from topology to report. Items are GPUs.
void run_large(benchmark::State& state, Network network) {
  const Experiment experiment = llama(state.range(0), network);
  for (auto _ : state) benchmark::DoNotOptimize(run(experiment).report.makespan_ps);
  count(state, static_cast<std::size_t>(experiment.plan.gpus()));
}
void BM_RunLargeAlphaBeta(benchmark::State& state) { run_large(state, Network::alpha_beta); }
void BM_RunLargeFlow(benchmark::State& state) { run_large(state, Network::flow); }
BENCHMARK(BM_RunLargeAlphaBeta)->Arg(128)->Arg(784)->Arg(7816)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_RunLargeFlow)->Arg(128)->Arg(784)->Arg(7816)->Unit(benchmark::kMillisecond);

}  // namespace
