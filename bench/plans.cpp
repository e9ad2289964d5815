// Measures plans of a search, one after the other: GPT-3 175B on 1,024 A100s, cut and ordered in every way of
// a grid. Items are plans. The first round simulates each for the first time, the others reuse cached results
// of similar plans; "fresh" simulates each on its own.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>

#include "config/experiment/read_experiment.hpp"
#include "config/schema/menus.hpp"
#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "sim/run/run.hpp"

namespace {

using namespace orrery;

void add_plans(const Experiment& base, std::vector<Experiment>& plans) {
  for (const std::int64_t micro_batch : {1, 2, 4}) {
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
      for (const bool sequence : {false, true}) {
        for (const int zero : {0, 1}) {
          Experiment& e = plans.emplace_back(base);
          e.plan.micro_batch_size = micro_batch;
          e.plan.recompute = recompute;
          e.plan.sequence_parallel = sequence;
          e.plan.zero_stage = zero;
        }
      }
    }
  }
}

/// 648 plans in an order that no neighbours share.
std::vector<Experiment> grid(Detail detail) {
  std::vector<Experiment> plans;
  for (const int tensor : {2, 4, 8}) {
    for (const int pipeline : {4, 8, 16}) {
      for (const int chunks : {1, 2}) {
        const std::string text =
            R"({"model": "gpt3-175b", "cluster": {"base": "dgx-a100-80gb", "nodes": 128},
                "plan": {"global_batch_size": 1536, "tensor_parallel": )" +
            std::to_string(tensor) + R"(, "pipeline_parallel": )" + std::to_string(pipeline) +
            R"(, "virtual_stages": )" + std::to_string(chunks) + R"(, "pipeline_schedule": ")" +
            (chunks > 1 ? "interleaved-1f1b" : "1f1b") + R"("}, "simulation": {"network": "alpha-beta"}})";
        Experiment base = read_experiment_text(text, "bench", {}, Catalog::embedded(), menus()).experiment;
        base.simulation.detail = detail;
        add_plans(base, plans);
      }
    }
  }
  std::erase_if(plans, [](const Experiment& e) {
    const Plan& plan = e.plan;
    const std::int64_t batch = plan.data_parallel * plan.micro_batch_size;
    return plan.global_batch_size % batch != 0 ||
           (plan.virtual_stages > 1 && plan.micro_batches() % plan.pipeline_parallel != 0);
  });
  std::shuffle(plans.begin(), plans.end(), std::mt19937(1));
  return plans;
}

void count(benchmark::State& state, const std::vector<Experiment>& plans) {
  state.SetItemsProcessed(static_cast<std::int64_t>(plans.size()) * state.iterations());
}

void first_round(benchmark::State& state, Detail detail) {
  const std::vector<Experiment> plans = grid(detail);
  for (auto _ : state) {
    Simulator simulator;
    for (const Experiment& e : plans) benchmark::DoNotOptimize(simulator.simulate(e).makespan_ps);
  }
  count(state, plans);
}

void later_rounds(benchmark::State& state, Detail detail) {
  const std::vector<Experiment> plans = grid(detail);
  Simulator simulator;
  for (const Experiment& e : plans) benchmark::DoNotOptimize(simulator.simulate(e).makespan_ps);
  for (auto _ : state) {
    for (const Experiment& e : plans) benchmark::DoNotOptimize(simulator.simulate(e).makespan_ps);
  }
  count(state, plans);
}

void fresh(benchmark::State& state, Detail detail) {
  const std::vector<Experiment> plans = grid(detail);
  for (auto _ : state) {
    for (const Experiment& e : plans) benchmark::DoNotOptimize(simulate(e).makespan_ps);
  }
  count(state, plans);
}

BENCHMARK_CAPTURE(first_round, stage, Detail::stage)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(later_rounds, stage, Detail::stage)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fresh, stage, Detail::stage)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(first_round, layer, Detail::layer)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(later_rounds, layer, Detail::layer)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(fresh, layer, Detail::layer)->Unit(benchmark::kMillisecond);

}  // namespace
