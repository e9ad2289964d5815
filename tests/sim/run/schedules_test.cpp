// Whole runs of every schedule: a step is the same told from fewer micro-batches and from all, folded and
// not.
#include "workloads/schedules/schedules.hpp"

#include <doctest/doctest.h>

#include <string>

#include "orrery/simulate.hpp"
#include "sim/run/run.hpp"
#include "tests/sim/run/experiments.hpp"
#include "tests/sim/run/same_report.hpp"

using namespace orrery;
using orrery::test::check_same_times;
using orrery::test::read;
using orrery::test::told_from_fewer;

namespace {

Experiment pipeline(const std::string& schedule, std::int64_t samples, std::vector<std::string> changes) {
  changes.push_back("plan.pipeline_schedule=" + schedule);
  changes.push_back("plan.global_batch_size=" + std::to_string(samples));
  return read(R"({"model": "gpt3-1.3b", "cluster": {"base": "dgx-a100-80gb", "nodes": 2},
                  "plan": {"pipeline_parallel": 4, "tensor_parallel": 2}})",
              changes);
}

}  // namespace

TEST_CASE("a step of each schedule is told from its first micro-batches") {
  for (const PipelineSchedule& schedule : pipeline_schedules()) {
    for (const char* detail : {"layer", "stage"}) {
      CAPTURE(std::string(schedule.name));
      CAPTURE(detail);
      const Experiment e =
          pipeline(std::string(schedule.name), 240,
                   {std::string("simulation.detail=") + detail, "simulation.network=alpha-beta"});
      const std::optional<Report> told = told_from_fewer(e);
      CHECK(told.has_value() == (schedule.name != "gpipe"));  // which repeats nothing
      if (told) check_same_times(*told, run(e).report);
    }
  }
}

TEST_CASE("replicas fold whatever the schedule is") {
  for (const PipelineSchedule& schedule : pipeline_schedules()) {
    CAPTURE(std::string(schedule.name));
    const std::string name(schedule.name);
    const Report folded = run(pipeline(name, 32, {"simulation.folding=auto"})).report;
    const Report whole = run(pipeline(name, 32, {"simulation.folding=off"})).report;
    check_same_times(folded, whole);
    CHECK(folded.stats.tasks <= whole.stats.tasks);
  }
}

TEST_CASE("the schedules rank as their papers say") {
  const auto seconds = [](const char* schedule) {
    return simulate(pipeline(schedule, 64, {"plan.tensor_parallel=1", "simulation.network=alpha-beta"}))
        .makespan_ps;
  };
  CHECK(seconds("zb-h1") < seconds("1f1b"));
  CHECK(seconds("zb-v") < seconds("zb-h1"));
  CHECK(seconds("zb-v") < seconds("v-half"));
  CHECK(seconds("v-half") < seconds("1f1b"));
  CHECK(seconds("dualpipe-v") < seconds("1f1b"));
}
