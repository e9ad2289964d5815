// Hot paths of the report: the Chrome trace (spans and bytes per second, written to memory and
// dropped) and the figures of a run (tasks per second).
#include <benchmark/benchmark.h>

#include <memory>

#include "reports/writers.hpp"
#include "tests/sim/metrics/run_fixture.hpp"

namespace {

using namespace orrery;

/// 8 stages of tensor-parallel pairs.
std::unique_ptr<test::RandomPipeline> make_run(std::int64_t micro_batches) {
  test::PipelineShape shape{8,   static_cast<std::int32_t>(micro_batches), 24, 1'000'000'000, 2'000'000'000,
                            true};
  return std::make_unique<test::RandomPipeline>(shape, 1);
}

void write_chrome_trace(benchmark::State& state) {
  const auto run = make_run(state.range(0));
  Plan plan;
  plan.tensor_parallel = 2;
  plan.pipeline_parallel = 8;
  const RankGrid grid(plan);
  TraceOptions options;
  options.max_spans = 100'000'000;
  std::uint64_t spans = 0;
  std::uint64_t bytes = 0;
  const RunView view = run->fixture.view();
  for (auto _ : state) {
    const Sink count = [&bytes](std::string_view text) { bytes += text.size(); };
    spans += write_trace(view, grid, options, count).spans;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(spans));
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
  state.counters["bytes_per_span"] = static_cast<double>(bytes) / static_cast<double>(spans);
}
BENCHMARK(write_chrome_trace)->Arg(64)->Arg(640)->Unit(benchmark::kMillisecond);

void build_figures(benchmark::State& state) {
  const auto run = make_run(state.range(0));
  const RunView view = run->fixture.view();
  for (auto _ : state) benchmark::DoNotOptimize(orrery::test::report_of(view).makespan_ps);
  state.SetItemsProcessed(state.iterations() * run->fixture.expanded.graph.tasks());
}
BENCHMARK(build_figures)->Arg(64)->Arg(640)->Unit(benchmark::kMillisecond);

}  // namespace
