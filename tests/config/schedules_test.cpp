// Checks plans with every schedule: the defaults of missing keys, and the obstacles.
#include <doctest/doctest.h>

#include "tests/config/support.hpp"

using namespace orrery;

namespace {

/// Returns an experiment of the tiny model of 8 layers on one node of 8 GPUs.
std::string experiment(const std::string& plan) {
  return R"({"model": "tiny", "cluster": "box", "plan": )" + plan + "}";
}

Plan plan_of(const std::string& plan) {
  return read_experiment_text(experiment(plan), "e.json", {}, io_test::catalog(), orrery::menus())
      .experiment.plan;
}

std::string problem_of(const std::string& plan) {
  try {
    plan_of(plan);
    return "";
  } catch (const InputError& error) {
    const std::string& text = error.diagnostics().front().text();
    return text.substr(text.find("/plan"));
  }
}

}  // namespace

TEST_CASE("schedules in a V have two chunks per rank, and other schedules one") {
  for (const char* name : {"zb-v", "v-half", "v-min", "dualpipe-v"}) {
    const std::string schedule =
        R"({"pipeline_parallel": 4, "global_batch_size": 16, "pipeline_schedule": ")";
    CHECK(plan_of(schedule + name + "\"}").virtual_stages == 2);
    CHECK(plan_of(schedule + name + "\", \"virtual_stages\": 2}").virtual_stages == 2);
    CHECK(problem_of(schedule + name + "\", \"virtual_stages\": 1}") ==
          "/plan/virtual_stages: found 1 with the schedule \"" + std::string(name) + "\", allowed 2");
  }
  CHECK(plan_of(R"({"pipeline_parallel": 4, "pipeline_schedule": "dualpipe", "global_batch_size": 16})")
            .virtual_stages == 1);
  CHECK(
      problem_of(R"({"pipeline_parallel": 4, "pipeline_schedule": "zb-v", "stage_layers": [2, 2, 2, 2]})") ==
      "/plan/stage_layers: found 4 entries, allowed pipeline_parallel 4 x virtual_stages 2 = 8");
}

TEST_CASE("a schedule that cannot be run with a plan says what it allows") {
  CHECK(
      problem_of(R"({"pipeline_parallel": 4, "pipeline_schedule": "dualpipe-v", "global_batch_size": 14})") ==
      "/plan/global_batch_size: found 7 micro-batches, allowed at least 2 x pipeline_parallel 4 = 8 for "
      "dualpipe-v");
  CHECK(problem_of(R"({"pipeline_parallel": 4, "pipeline_schedule": "dualpipe", "global_batch_size": 18})") ==
        "/plan/global_batch_size: found 9 micro-batches, allowed an even number for dualpipe");
  CHECK(problem_of(R"({"pipeline_parallel": 1, "pipeline_schedule": "dualpipe", "global_batch_size": 16})") ==
        "/plan/pipeline_parallel: found 1, allowed an even number for dualpipe");
  CHECK(problem_of(R"({"pipeline_parallel": 4, "pipeline_schedule": "dualpipe", "global_batch_size": 16,
                       "zero_stage": 1, "zero_group_size": 1})") ==
        "/plan/zero_group_size: found a value with the schedule dualpipe, allowed none");
}

TEST_CASE("a warm-up and groups of choice") {
  const std::string interleaved =
      R"({"pipeline_parallel": 2, "virtual_stages": 2, "pipeline_schedule": "interleaved-1f1b",
          "global_batch_size": 28, )";  // 7 micro-batches
  CHECK(plan_of(interleaved + R"("micro_batch_group_size": 3})").micro_batch_group_size == 3);
  CHECK(plan_of(interleaved + R"("warmup_micro_batches": 9})").warmup_micro_batches == 9);
  CHECK(problem_of(interleaved + R"("micro_batch_group_size": 1})") ==
        "/plan/micro_batch_group_size: found 1, allowed at least pipeline_parallel 2 for interleaved-1f1b");
  // 7 micro-batches in groups of 3, 2 and 2.
  CHECK(problem_of(interleaved + R"("warmup_micro_batches": 2})") ==
        "/plan/warmup_micro_batches: found 2, allowed 3 to 14 for interleaved-1f1b");
  CHECK(problem_of(R"({"pipeline_parallel": 2, "micro_batch_group_size": 3})") ==
        "/plan/micro_batch_group_size: found a value that does nothing with the schedule \"1f1b\" and "
        "virtual_stages 1");
  CHECK(problem_of(R"({"pipeline_parallel": 2, "pipeline_schedule": "gpipe", "warmup_micro_batches": 3})") ==
        "/plan/warmup_micro_batches: found a value that does nothing with the schedule \"gpipe\" and "
        "virtual_stages 1");
}
