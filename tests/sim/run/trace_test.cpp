// The traces of whole runs under the strict checker: sorted, apart, every arrow bound, and their
// slices add up to the report.
#include <doctest/doctest.h>

#include <cmath>

#include "orrery/rank_grid.hpp"
#include "reports/writers.hpp"
#include "sim/run/asynchronous_run.hpp"
#include "tests/reports/trace/trace_check.hpp"
#include "tests/sanitized.hpp"
#include "tests/sim/run/experiments.hpp"
#include "workloads/sync/sync_method.hpp"

using namespace orrery;
using orrery::test::example;
using orrery::test::TraceCheck;
using orrery::test::TraceContents;

namespace {

struct Traced {
  Run run;
  TraceInfo info;
  TraceContents contents;
};

Traced trace(const Experiment& experiment, const TraceOptions& options = {}) {
  Traced result{run(experiment), {}, {}};
  std::string text;
  result.info = write_trace(result.run.view(), RankGrid(experiment.plan), options,
                            [&text](std::string_view part) { text += part; });
  result.contents = TraceCheck::run(text);
  return result;
}

}  // namespace

TEST_CASE("every example's trace is valid, and its compute adds up to the report") {
  for (const auto& file : std::filesystem::directory_iterator(orrery::test::examples_folder())) {
    if (file.is_directory()) continue;
    const std::string name = file.path().filename();
    if (name == "megatron-145b.json") continue;                               // has a test of its own below
    if (is_asynchronous(example(name)) || example(name).inference) continue;  // has no trace
    if (test::kSanitized && example(name).plan.gpus() > 8) continue;
    CAPTURE(name);
    TraceOptions options;
    options.max_spans = 60'000;
    const Traced t = trace(example(name), options);
    CHECK(t.contents.slices == t.info.spans);
    CHECK(t.contents.flows == t.info.flows);
    if (t.info.ranks < t.run.workload.ranks()) continue;
    std::int64_t compute_ns = 0;
    std::uint64_t slices = 0;
    for (const auto& [thread, ns] : t.contents.ns) {
      if (thread.second == 1) compute_ns += ns;
    }
    for (const std::uint32_t program : t.run.workload.program_of_rank) {
      for (const Op& op : t.run.workload.programs[program].ops) slices += op.stream == Stream::compute;
    }
    const Report& r = t.run.report;
    const double all = static_cast<double>(Int128{r.gpus} * r.makespan_ps);
    const double exact = r.gpu_utilization_mean * all / 1000;
    // Both ends of a slice are rounded down to ns, and one that touches the next is printed 1 ns short.
    CHECK(std::abs(exact - static_cast<double>(compute_ns)) <= 2.0 * static_cast<double>(slices));
  }
}

TEST_CASE("one rank of each stage of the main job: every message has its arrow") {
  TraceOptions options;
  for (std::uint32_t stage = 0; stage < 8; ++stage) options.ranks.push_back(192 * stage);
  Experiment e = example("megatron-145b.json");
  e.plan.global_batch_size = 24 * 2 * 8;
  const Traced t = trace(e, options);
  CHECK(t.contents.processes.size() == 8);
  // Eight micro-batches cross 15 boundaries between 16 virtual stages, forward and backward.
  CHECK(t.contents.flows == 8 * 15 * 2);
}
