// Pipeline idle time against its closed forms, exactly.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "tests/sim/tasks/pipeline.hpp"
#include "tests/workloads/schedule_runner.hpp"

using namespace orrery;
using orrery::test::PipelineCase;
using orrery::test::run_pipeline;

TEST_CASE("GPipe and 1F1B: step (m + p - 1)(f + b), idle fraction (p - 1)/m") {
  for (const char* schedule : {"gpipe", "1f1b"}) {
    for (const std::int64_t p : {1, 2, 4, 7}) {
      for (const std::int64_t m : {1, 2, 4, 8, 13}) {
        CAPTURE(schedule);
        CAPTURE(p);
        CAPTURE(m);
        const Report r = run_pipeline({schedule, p, m}).report;
        CHECK(r.makespan_ps == (m + p - 1) * 3000);
        // Every one of the p GPUs works m (f + b) and idles (p - 1)(f + b).
        CHECK(r.breakdown.compute_ps == Int128{p * m * 3000});
        CHECK(r.breakdown.bubble_ps == Int128{p * (p - 1) * 3000});
        CHECK(r.pipeline_bubble_fraction == static_cast<double>(p - 1) / static_cast<double>(m));
      }
    }
  }
}

TEST_CASE("ZB-H1: the first stage idles (p - 1)(T_F + T_B - T_W)") {
  // Qi et al. 2024, table 2, T_B and T_W for the gradients of inputs and of weights.
  for (const Picoseconds weight : {1000, 700}) {
    for (const std::int64_t p : {1, 2, 4, 7}) {
      for (const std::int64_t m : {p, 2 * p, 5 * p}) {
        CAPTURE(p);
        CAPTURE(m);
        PipelineCase c{"zb-h1", p, m};
        c.backward_ps = 1000 + weight;
        const Report r = run_pipeline(c).report;
        CHECK(r.makespan_ps == m * (2000 + weight) + (p - 1) * (2000 - weight));
        CHECK(r.breakdown.compute_ps == Int128{p * m * (2000 + weight)});
      }
    }
  }
}

TEST_CASE("every schedule takes as long as its order does by itself") {
  for (const PipelineSchedule& schedule : pipeline_schedules()) {
    for (const std::int64_t p : {1, 2, 3, 4, 6}) {
      for (const std::int64_t m : {1, 3, 8, 12, 14}) {
        const std::int64_t v = schedule.chunks == kAnyChunks ? 3 : schedule.chunks;
        PipelineCase c{std::string(schedule.name), p, m, v};
        c.forward_ps = 1000;
        c.input_ps = 1100;
        c.backward_ps = 1900;
        Plan plan;
        plan.pipeline_schedule = c.schedule;
        plan.pipeline_parallel = p;
        plan.global_batch_size = m;
        plan.virtual_stages = v;
        if (schedule_obstacle(plan)) continue;
        CAPTURE(c.schedule);
        CAPTURE(p);
        CAPTURE(m);
        test::ScheduleRunner runner(schedule, schedule_shape(plan), {1000, 1100, 800});
        REQUIRE(runner.run());
        const Report r = run_pipeline(c).report;
        CHECK(r.makespan_ps == runner.step());
        // Each of the p ranks runs m times the work of v chunks, in DualPipe m/2 times that of two.
        CHECK(r.breakdown.compute_ps == Int128{p * m * v * 2900});
      }
    }
  }
}

TEST_CASE("zero-bubble schedules of two rounds: the step is the work and (p - 1) forward passes") {
  for (const std::int64_t p : {2, 4, 7}) {
    for (const std::int64_t m : {2 * p, 5 * p}) {
      // T_F = T_B = T_W = 1000: no rank idles between its own passes, and the last rank begins (p - 1) T_F
      // late.
      CHECK(run_pipeline({"zb-h2", p, m}).report.makespan_ps == (3 * m + p - 1) * 1000);
      CHECK(run_pipeline({"zb-v", p, m, 2}).report.makespan_ps == (6 * m + p - 1) * 1000);
    }
  }
}

TEST_CASE("an embedding and a loss may be stages of their own") {
  // Stages without layers pass their input on, so the pipeline acts as one with fewer stages, as the ends
  // take no time.
  for (const char* schedule : {"1f1b", "zb-h1", "zb-h2"}) {
    const Report ends = run_pipeline({schedule, 4, 8, 1, {0, 2, 2, 0}}).report;
    const Report alone = run_pipeline({schedule, 2, 8, 1, {2, 2}}).report;
    CHECK(ends.makespan_ps >= alone.makespan_ps);
    CHECK(ends.breakdown.compute_ps == alone.breakdown.compute_ps);
  }
  // The virtual stages of a V in the order of the model: rank 0 has the first and the last one.
  const Report v = run_pipeline({"zb-v", 3, 9, 2, {0, 1, 1, 1, 1, 0}}).report;
  CHECK(v.breakdown.compute_ps == Int128{9 * 4 * 3000});
}

TEST_CASE("interleaved 1F1B: idle fraction (p - 1)/(v m)") {
  for (const std::int64_t p : {2, 4, 8}) {
    for (const std::int64_t v : {2, 3, 4}) {
      for (const std::int64_t m : {p, 2 * p, 4 * p}) {
        CAPTURE(p);
        CAPTURE(v);
        CAPTURE(m);
        // A chunk takes f + b = 3000; a rank has v of them: step v m (f + b) + (p - 1)(f + b).
        const Report r = run_pipeline({"interleaved-1f1b", p, m, v}).report;
        CHECK(r.makespan_ps == (v * m + p - 1) * 3000);
        CHECK(r.pipeline_bubble_fraction == static_cast<double>(p - 1) / static_cast<double>(v * m));
      }
    }
  }
}

TEST_CASE("naive model parallelism: one GPU kernel_sequences at a time") {
  // Step m p (f + b): each GPU idles (p - 1) m (f + b), a fraction of p - 1.
  const Report r = run_pipeline({"sequential", 4, 6}).report;
  CHECK(r.makespan_ps == 6 * 4 * 3000);
  CHECK(r.pipeline_bubble_fraction == 3.0);
}

TEST_CASE("the slowest stage sets the throughput, and non-uniform stages enlarge the idle time") {
  const std::vector<std::int64_t> layers{1, 4, 2, 1};
  const std::int64_t total = std::accumulate(layers.begin(), layers.end(), std::int64_t{0});
  const auto step = [&](const char* schedule, std::int64_t m) {
    return run_pipeline({schedule, 4, m, 1, layers}).report;
  };
  // GPipe: the first micro-batch passes all stages, each later one waits for the slowest (4 layers):
  // sum t + (m - 1) max t, forward and backward alike.
  for (const std::int64_t m : {1, 2, 5, 9})
    CHECK(step("gpipe", m).makespan_ps == (total + (m - 1) * 4) * 3000);
  for (const char* schedule : {"gpipe", "1f1b"}) {
    CHECK(step(schedule, 40).makespan_ps - step(schedule, 39).makespan_ps == 4 * 3000);
    // The eight layers, two a stage, idle for (p - 1)/m = 3/8.
    const Report uniform = run_pipeline({schedule, 4, 8, 1, {2, 2, 2, 2}}).report;
    CHECK(uniform.pipeline_bubble_fraction == 3.0 / 8.0);
    CHECK(step(schedule, 8).pipeline_bubble_fraction > uniform.pipeline_bubble_fraction);
    CHECK(step(schedule, 8).makespan_ps > uniform.makespan_ps);
  }
}

TEST_CASE("load balance of the proofs: uniform layers differ by nothing, throughput is 1 / longest stage") {
  // |C_i - C| <= epsilon with epsilon 0 for equal shares of equal layers.
  const auto result = run_pipeline({"1f1b", 4, 16, 1, {3, 3, 3, 3}});
  CHECK(result.report.gpu_utilization_min == result.report.gpu_utilization_mean);
  // In the steady state a micro-batch leaves every 3 layers * 3000 ps.
  const auto longer = run_pipeline({"1f1b", 4, 17, 1, {3, 3, 3, 3}});
  CHECK(longer.report.makespan_ps - result.report.makespan_ps == 3 * 3000);
}

TEST_CASE("unequal pass times") {
  // 1F1B with b = 3 f keeps the closed form; the last stage's work is never interrupted.
  PipelineCase c{"1f1b", 5, 11};
  c.forward_ps = 700;
  c.backward_ps = 2100;
  CHECK(run_pipeline(c).report.makespan_ps == (11 + 5 - 1) * 2800);
}
