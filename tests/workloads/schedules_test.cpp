// Conformance of every row of the schedule menu, and the orders of the papers by hand.
#include "workloads/schedules/schedules.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "tests/workloads/schedule_runner.hpp"

using namespace orrery;
using orrery::test::most_kept;
using orrery::test::ScheduleRunner;
using orrery::test::text;

namespace {

std::vector<Pass> order(const char* name, ScheduleShape shape, std::int64_t stage) {
  return find_pipeline_schedule(name)->order(shape, stage);
}

bool allows(const PipelineSchedule& schedule, const ScheduleShape& shape) {
  return schedule.obstacle == nullptr || !schedule.obstacle(shape);
}

/// Chunks per rank to try.
std::vector<std::int64_t> chunk_counts(const PipelineSchedule& schedule) {
  if (schedule.chunks == kAnyChunks) return {1, 2, 3};
  return {schedule.placement == ChunkPlacement::bidirectional ? 2 : schedule.chunks};
}

/// Runs all ranks, a pass only after its inputs; whether each micro-batch goes once through each virtual
/// stage.
bool completes(const PipelineSchedule& schedule, const ScheduleShape& shape) {
  ScheduleRunner runner(schedule, shape);
  if (!runner.run()) return false;
  std::int64_t forward = 0;
  std::int64_t complete = 0;
  for (const auto& [pass, count] : runner.done()) {
    if (count != 1) return false;
    forward += std::get<0>(pass) == PassKind::forward ? 1 : 0;
    complete += completes_gradients(std::get<0>(pass)) ? 1 : 0;
  }
  const ChunkMap map{schedule.placement, shape.stages, shape.chunks};
  const std::int64_t all = shape.micro_batches * map.virtual_stages();
  return forward == all && complete == all;
}

/// The chunks of `rank` that hand on to another rank, or take from one, in the order of the passes of one
/// direction, on one stream: of chunks that lie against the order of the ranks, or not.
std::vector<std::pair<int, std::int64_t>> crossings(const PipelineSchedule& schedule, ScheduleShape shape,
                                                    std::int64_t rank, bool ahead, bool sends,
                                                    bool reversed) {
  std::vector<std::pair<int, std::int64_t>> list;
  const ChunkMap map{schedule.placement, shape.stages, shape.chunks};
  for (const Pass& pass : schedule.order(shape, rank)) {
    const bool same_way = ahead ? pass.kind == PassKind::forward : test::is_backward(pass.kind);
    if (!same_way || map.reversed(pass.chunk) != reversed) continue;
    const ChunkPlace at{rank, pass.chunk};
    const auto other = ahead == sends ? map.after(at) : map.before(at);
    if (!other || other->rank == rank) continue;
    list.emplace_back(pass.micro_batch, sends ? map.virtual_stage(at) : map.virtual_stage(*other));
  }
  return list;
}

void check_messages(const PipelineSchedule& schedule, const ScheduleShape& shape) {
  for (std::int64_t rank = 0; rank < shape.stages && shape.stages > 1; ++rank) {
    const std::int64_t next = (rank + 1) % shape.stages;
    for (const bool reversed : {false, true}) {
      const bool up = !reversed;
      CHECK(crossings(schedule, shape, up ? rank : next, true, true, reversed) ==
            crossings(schedule, shape, up ? next : rank, true, false, reversed));
      CHECK(crossings(schedule, shape, up ? next : rank, false, true, reversed) ==
            crossings(schedule, shape, up ? rank : next, false, false, reversed));
    }
  }
}

}  // namespace

TEST_CASE("the orders of the papers") {
  CHECK(text(order("sequential", {2, 3, 1}, 0)) == " F0 B0 F1 B1 F2 B2");
  CHECK(text(order("gpipe", {4, 3, 1}, 2)) == " F0 F1 F2 B2 B1 B0");
  // Warm-up of p - 1 - s = 2 passes.
  CHECK(text(order("1f1b", {3, 5, 1}, 0)) == " F0 F1 F2 B0 F3 B1 F4 B2 B3 B4");
  CHECK(text(order("1f1b", {3, 5, 1}, 2)) == " F0 B0 F1 B1 F2 B2 F3 B3 F4 B4");
  // Fewer micro-batches than warm-up passes.
  CHECK(text(order("1f1b", {4, 2, 1}, 0)) == " F0 F1 B0 B1");
  // One more ahead: a backward pass and the forward pass before it are of different micro-batches.
  CHECK(text(order("1f1b", {1, 3, 1, 0, 0, 1}, 0)) == " F0 F1 B0 F2 B1 B2");
  CHECK(text(order("interleaved-1f1b", {2, 4, 2, 0, 0, 1}, 1)) ==
        " F0 F1 F0.1 F1.1 B0.1 F2 B1.1 F3 B0 F2.1 B1 F3.1 B2.1 B3.1 B2 B3");
  // p = 3: gradients of weights are put off by 0 micro-batches on the first stage, by 2 on the last one.
  CHECK(text(order("zb-h1", {3, 4, 1}, 0)) == " F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3");
  CHECK(text(order("zb-h1", {3, 4, 1}, 1)) == " F0 F1 I0 F2 I1 W0 F3 I2 W1 I3 W2 W3");
  CHECK(text(order("zb-h1", {3, 4, 1}, 2)) == " F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3");
  // p = 2, m = 4, v = 2: warm-up of 2 (p - 1 - s) + (v - 1) p = 4 passes on stage 0, 2 on stage 1.
  CHECK(text(order("interleaved-1f1b", {2, 4, 2}, 0)) ==
        " F0 F1 F0.1 F1.1 F2 B0.1 F3 B1.1 F2.1 B0 F3.1 B1 B2.1 B3.1 B2 B3");
  CHECK(text(order("interleaved-1f1b", {2, 4, 2}, 1)) ==
        " F0 F1 F0.1 B0.1 F1.1 B1.1 F2 B0 F3 B1 F2.1 B2.1 F3.1 B3.1 B2 B3");
}

TEST_CASE("the orders of the papers that split backward passes or place chunks in a V") {
  // p = 2: warm-up of 2 (p - 1 - s) = 2 and 0 passes; gradients of weights are put off by 0 and 2.
  CHECK(text(order("zb-h2", {2, 4, 1}, 0)) == " F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3");
  CHECK(text(order("zb-h2", {2, 4, 1}, 1)) == " F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3");
  // Rank 0 of 2 has virtual stages 0 and 3, rank 1 has 1 and 2.
  CHECK(text(order("zb-v", {2, 4, 2}, 0)) ==
        " F0 F1 F2 F0.1 I0.1 W0.1 F1.1 I1.1 W1.1 F3 I0 W0 F2.1 I2.1 W2.1 I1 W1 F3.1 I3.1 W3.1 I2 W2 I3 W3");
  CHECK(text(order("zb-v", {2, 4, 2}, 1)) ==
        " F0 F0.1 F1 F1.1 I0.1 W0.1 F2 I0 W0 F2.1 I1.1 W1.1 F3 I1 W1 F3.1 I2.1 W2.1 I2 I3.1 I3 W2 W3.1 W3");
  // p = 2, s = 0: passes of the first micro-batch at 0, 3, 4 and 7, those of the next one 6 later; gradients
  // of weights at 5, 8, 11, ...
  CHECK(text(order("v-min", {2, 3, 2}, 0)) ==
        " F0 F0.1 I0.1 W0.1 F1 I0 W0 F1.1 I1.1 W1.1 F2 I1 W1 F2.1 I2.1 W2.1 I2 W2");
  // p = 2, s = 0: at 0, 4, 8 and 13.
  CHECK(text(order("v-half", {2, 3, 2}, 0)) ==
        " F0 F0.1 F1 I0.1 W0.1 F1.1 F2 I0 I1.1 W0 F2.1 W1.1 I1 I2.1 W1 W2.1 I2 W2");
  // The first of 2 ranks of DualPipeV, and of 4 of DualPipe with twice the micro-batches.
  CHECK(text(order("dualpipe-v", {2, 4, 2}, 0)) ==
        " F0 F1 F2 F0.1 I0.1 W0.1 F1.1 F3 B1.1 F2.1 B0 B2.1 F3.1 B1 B3.1 I2 W2 I3 W3");
  CHECK(text(order("dualpipe", {4, 8, 2}, 0)) ==
        " F0 F1 F2 F4.1 I4.1 W4.1 F5.1 F3 B5.1 F6.1 B0 B6.1 F7.1 B1 B7.1 I2 W2 I3 W3");
}

TEST_CASE("every schedule runs every pass once, without deadlock, with messages in order") {
  for (const PipelineSchedule& schedule : pipeline_schedules()) {
    for (std::int64_t p = 1; p <= 8; ++p) {
      for (const std::int64_t m : {std::int64_t{1}, std::int64_t{2}, p - 1, p, p + 1, 2 * p - 1, 2 * p,
                                   2 * p + 2, 3 * p + 1, 5 * p}) {
        for (const std::int64_t v : chunk_counts(schedule)) {
          const ScheduleShape shape{p, m, v};
          if (m < 1 || !allows(schedule, shape)) continue;
          CAPTURE(std::string(schedule.name));
          CAPTURE(p);
          CAPTURE(m);
          CAPTURE(v);
          CHECK(completes(schedule, shape));
          check_messages(schedule, shape);
        }
      }
    }
  }
}

TEST_CASE("1F1B runs with any warm-up, and interleaved with any group as well") {
  for (const char* name : {"1f1b", "interleaved-1f1b"}) {
    for (const std::int64_t p : {1, 2, 3, 4}) {
      for (const std::int64_t m : {1, 3, 4, 6, 9, 16}) {
        for (const std::int64_t group : {p, p + 1, 2 * p}) {
          for (std::int64_t warm_up = 0; warm_up <= 3 * m; ++warm_up) {
            const std::int64_t v = name == std::string("1f1b") ? 1 : 3;
            const ScheduleShape shape{p, m, v, v == 1 ? 0 : group, warm_up};
            if (!allows(*find_pipeline_schedule(name), shape)) continue;
            CAPTURE(p);
            CAPTURE(m);
            CAPTURE(group);
            CAPTURE(warm_up);
            CHECK(completes(*find_pipeline_schedule(name), shape));
            check_messages(*find_pipeline_schedule(name), shape);
          }
        }
      }
    }
  }
}

TEST_CASE("a rank of one chunk keeps as many micro-batches as its order says") {
  for (const PipelineSchedule& schedule : pipeline_schedules()) {
    if (schedule.kept == nullptr) continue;
    for (const std::int64_t p : {1, 2, 3, 8}) {
      for (std::int64_t m = 1; m <= 20; ++m) {
        for (const std::int64_t warm_up : {0, 1, 2, 5, 9}) {
          const ScheduleShape shape{p, m, 1, 0, schedule.sets_warm_up ? warm_up : 0};
          if (!allows(schedule, shape)) continue;
          CAPTURE(std::string(schedule.name));
          for (std::int64_t s = 0; s < p; ++s)
            CHECK(schedule.kept(shape, s) == most_kept(schedule.order(shape, s)));
        }
      }
    }
  }
  for (const PipelineSchedule& schedule : pipeline_schedules())
    CHECK((schedule.kept == nullptr) == (schedule.placement != ChunkPlacement::wraps_around));
}

TEST_CASE("schedules that need full pipelines say so") {
  const auto obstacle = [](const char* name, const ScheduleShape& shape) {
    return find_pipeline_schedule(name)->obstacle(shape);
  };
  CHECK(obstacle("dualpipe-v", {4, 7, 2})->found == "7 micro-batches");
  CHECK(obstacle("dualpipe-v", {4, 7, 2})->allowed == "at least 2 x pipeline_parallel 4 = 8");
  CHECK(!obstacle("dualpipe-v", {4, 8, 2}));
  CHECK(obstacle("dualpipe", {3, 8, 2})->key == "pipeline_parallel");
  CHECK(obstacle("dualpipe", {4, 9, 2})->allowed == "an even number");
  CHECK(obstacle("dualpipe", {4, 6, 2})->allowed == "at least 2 x pipeline_parallel 4 = 8");
  CHECK(obstacle("interleaved-1f1b", {4, 8, 2, 3})->allowed == "at least pipeline_parallel 4");
  CHECK(obstacle("interleaved-1f1b", {4, 8, 2, 0, 3})->allowed == "4 to 16");
  CHECK(obstacle("1f1b", {4, 8, 1, 0, 9})->allowed == "at most the 8 micro-batches");
  CHECK(find_pipeline_schedule("2f2b") == nullptr);
}

TEST_CASE("a plan knows how many copies of the model its pipeline has") {
  for (const PipelineSchedule& schedule : pipeline_schedules()) {
    Plan plan;
    plan.pipeline_schedule = schedule.name;
    plan.pipeline_parallel = 4;
    CHECK((plan.model_copies() == 2) == (schedule.placement == ChunkPlacement::bidirectional));
    CHECK(chunk_map(plan).copies() == plan.model_copies());
  }
}

TEST_CASE("chunks lie where their placement says") {
  const ChunkMap wrapped{ChunkPlacement::wraps_around, 3, 2};
  CHECK(wrapped.virtual_stage({1, 1}) == 4);
  CHECK(wrapped.place(4, 0) == ChunkPlace{1, 1});
  CHECK(wrapped.after({2, 0}) == ChunkPlace{0, 1});
  CHECK(!wrapped.ends_meet());
  const ChunkMap v{ChunkPlacement::v_shape, 3, 2};
  CHECK(v.virtual_stage({1, 1}) == 4);
  CHECK(v.after({2, 0}) == ChunkPlace{2, 1});
  CHECK(v.after({2, 1}) == ChunkPlace{1, 1});
  CHECK(v.before({0, 1}) == ChunkPlace{1, 1});
  CHECK(!v.after({0, 1}));
  CHECK(v.ends_meet());
  const ChunkMap both{ChunkPlacement::bidirectional, 4, 2};
  CHECK(both.virtual_stages() == 4);
  CHECK(both.virtual_stage({1, 1}) == 2);
  CHECK(both.place(2, 1) == ChunkPlace{1, 1});
  CHECK(both.after({1, 1}) == ChunkPlace{0, 1});
  CHECK(!both.before({3, 1}));
}
