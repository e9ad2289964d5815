#include "sim/metrics/passes.hpp"

#include <doctest/doctest.h>

#include "tests/sim/metrics/run_fixture.hpp"

namespace orrery::test {
namespace {

TEST_CASE("operations in a row that belong to one micro-batch are a pass, with the waits inside it") {
  RunFixture run(1);
  const std::uint32_t work = run.add_work(0);
  const auto add = [&](Picoseconds start, Picoseconds finish, Phase phase, std::int32_t micro_batch) {
    run.add_op(0, compute_op(work, phase, Part::mlp, 0, micro_batch), run.add_task(start, finish));
  };
  add(0, 10, Phase::forward, 0);
  add(12, 20, Phase::forward, 0);
  add(20, 30, Phase::forward, 1);
  add(35, 40, Phase::recompute, 0);
  add(40, 60, Phase::backward, 0);
  add(60, 70, Phase::weight_gradient, 0);
  add(80, 90, Phase::optimize, -1);
  const std::vector<PassSpan> passes = passes_of(run.view(), 0);
  REQUIRE(passes.size() == 5);
  const auto is = [&](std::size_t i, Phase phase, std::int32_t micro_batch, Picoseconds start,
                      Picoseconds finish) {
    return passes[i].phase == phase && passes[i].micro_batch == micro_batch && passes[i].start_ps == start &&
           passes[i].finish_ps == finish;
  };
  CHECK(is(0, Phase::forward, 0, 0, 20));
  CHECK(is(1, Phase::forward, 1, 20, 30));
  CHECK(is(2, Phase::backward, 0, 35, 60));
  CHECK(is(3, Phase::weight_gradient, 0, 60, 70));
  CHECK(is(4, Phase::optimize, -1, 80, 90));
  CHECK(passes[2].first_op == 3);
  CHECK(passes[2].last_op == 4);
}

TEST_CASE(
    "passes of a random pipeline are all its micro-batches, forward and backward, and cover its compute") {
  const PipelineShape shape{.stages = 3, .micro_batches = 5};
  const RandomPipeline pipeline(shape, 7);
  const RunView run = pipeline.fixture.view();
  for (std::uint32_t rank = 0; rank < 6; ++rank) {
    const std::vector<PassSpan> passes = passes_of(run, rank);
    REQUIRE(passes.size() == 11);  // 5 forward, 5 backward, 1 optimizer
    for (std::size_t i = 0; i + 1 < passes.size(); ++i) CHECK(passes[i].finish_ps <= passes[i + 1].start_ps);
  }
}

}  // namespace
}  // namespace orrery::test
