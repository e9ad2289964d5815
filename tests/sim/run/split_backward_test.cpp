// Whole runs of schedules that split their backward passes.
#include <doctest/doctest.h>

#include "orrery/simulate.hpp"
#include "sim/run/run.hpp"
#include "tests/sim/run/experiments.hpp"
#include "tests/sim/run/same_report.hpp"

using namespace orrery;
using orrery::test::check_same_times;
using orrery::test::read;
using orrery::test::told_from_fewer;

namespace {

Experiment pipeline(const char* schedule, const char* detail) {
  return read(
      R"({"model": "gpt3-1.3b", "cluster": {"base": "dgx-a100-80gb", "nodes": 2},
      "plan": {"pipeline_parallel": 4, "global_batch_size": 128}})",
      {std::string("plan.pipeline_schedule=") + schedule, std::string("simulation.detail=") + detail,
       "simulation.network=alpha-beta"});
}

}  // namespace

TEST_CASE("a step of ZB-H1 is told from its first micro-batches, and takes less time than one of 1F1B") {
  for (const char* detail : {"layer", "stage"}) {
    CAPTURE(detail);
    const Experiment e = pipeline("zb-h1", detail);
    const std::optional<Report> told = told_from_fewer(e);
    REQUIRE(told);
    const Report whole = run(e).report;
    check_same_times(*told, whole);
    CHECK(told->stats.tasks < whole.stats.tasks);
    const Report usual = simulate(pipeline("1f1b", detail));
    CHECK(whole.makespan_ps < usual.makespan_ps);
    CHECK(whole.hardware_flops_per_step == usual.hardware_flops_per_step);
    CHECK(whole.stage_memory[0].activations.total() == usual.stage_memory[0].activations.total());
  }
}
