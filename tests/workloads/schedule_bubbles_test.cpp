// Idle times and activations of schedules against the closed forms and figures of their papers, exactly. A
// rank idles from its own first pass to its own last one.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "tests/workloads/schedule_runner.hpp"
#include "workloads/schedules/timing.hpp"

using namespace orrery;
using orrery::test::most_kept;
using orrery::test::PassTimes;
using orrery::test::RankTimes;
using orrery::test::ScheduleRunner;

namespace {

ScheduleRunner run(const char* name, const ScheduleShape& shape, const PassTimes& times = {}) {
  ScheduleRunner runner(*find_pipeline_schedule(name), shape, times);
  REQUIRE(runner.run());
  return runner;
}

std::int64_t most_kept_by(const char* name, const ScheduleShape& shape) {
  return most_kept(*find_pipeline_schedule(name), shape);
}

/// A row of Qi et al. 2024, "Zero Bubble Pipeline Parallelism": mean pass times (table 9) in us, and bubble
/// rates that the authors computed from them (table 5) in 1/10,000.
struct ProfileRow {
  std::int64_t stages, micro_batches, forward, input, weight, message;
  std::int64_t one_f_one_b, interleaved, zb_h1, zb_h2;
};

constexpr ProfileRow kProfile[] = {
    {8, 24, 18522, 18086, 9337, 601, 2431, 1055, 1585, 1083},
    {8, 32, 18513, 18086, 9331, 626, 1985, 818, 1242, 837},
    {8, 64, 18546, 18097, 9321, 762, 1240, 443, 674, 444},
    {8, 24, 29718, 29444, 19927, 527, 2347, 808, 1323, 698},
    {8, 32, 29802, 29428, 19530, 577, 1898, 628, 1045, 559},
    {8, 64, 29935, 29621, 19388, 535, 1091, 320, 554, 294},
    {16, 48, 11347, 11248, 8132, 377, 2552, 1104, 1397, 672},
    {16, 64, 11307, 11254, 8101, 379, 2082, 852, 1088, 516},
    {16, 128, 11325, 11308, 8109, 378, 1251, 445, 576, 266},
    {32, 96, 10419, 10207, 7715, 408, 2646, 1493, 1421, 641},
    {32, 128, 10408, 10204, 7703, 408, 2168, 1164, 1106, 490},
    {32, 256, 10402, 10248, 7698, 460, 1352, 624, 594, 257},
};

/// (cost - m (T_F + T_B + T_W)) / cost, where the cost is the time of the rank that takes longest.
std::int64_t bubble_rate(const ProfileRow& row, const char* schedule) {
  const PassTimes times{row.forward, row.input, row.weight, row.message};
  const ScheduleRunner runner = run(schedule, {row.stages, row.micro_batches, 1}, times);
  const std::int64_t work = row.micro_batches * (row.forward + row.input + row.weight);
  const std::int64_t cost = runner.longest();
  return (10000 * (cost - work) + cost / 2) / cost;
}

}  // namespace

TEST_CASE("bubble rates computed by the authors of zero-bubble schedules from measured pass times") {
  // ZB-1p, ZB-2p and ZB-V of the table come from a search over such pass times; the orders by hand are exact.
  for (const ProfileRow& row : kProfile) {
    CAPTURE(row.stages);
    CAPTURE(row.micro_batches);
    CHECK(bubble_rate(row, "1f1b") == row.one_f_one_b);
    CHECK(bubble_rate(row, "zb-h1") == row.zb_h1);
    CHECK(bubble_rate(row, "zb-h2") == row.zb_h2);
  }
}

TEST_CASE("ZB-H2: stage s idles (p - 1 - s)(T_F + T_B - 2 T_W) and keeps 2p - 1 micro-batches") {
  for (const std::int64_t weight : {10, 7, 3}) {
    for (const std::int64_t p : {1, 2, 3, 4, 8}) {
      for (const std::int64_t m : {2 * p - 1, 2 * p, 5 * p}) {
        CAPTURE(p);
        CAPTURE(m);
        const ScheduleRunner runner = run("zb-h2", {p, m, 1}, {10, 10, weight});
        for (std::int64_t s = 0; s < p; ++s)
          CHECK(runner.ranks()[static_cast<std::size_t>(s)].idle() == (p - 1 - s) * (20 - 2 * weight));
        // The last stage begins (p - 1) T_F after the first one, and never idles.
        CHECK(runner.step() == m * (20 + weight) + (p - 1) * std::max<std::int64_t>(10, 20 - 2 * weight));
        CHECK(most_kept_by("zb-h2", {p, m, 1}) == 2 * p - 1);
      }
    }
  }
}

TEST_CASE("ZB-V: no rank idles where passes take the same, and each keeps p micro-batches") {
  for (std::int64_t p = 1; p <= 8; ++p) {
    for (const std::int64_t m : {2 * p, 2 * p + 1, 5 * p}) {
      CAPTURE(p);
      CAPTURE(m);
      const ScheduleRunner runner = run("zb-v", {p, m, 2});
      for (const RankTimes& rank : runner.ranks()) CHECK(rank.idle() == 0);
      CHECK(runner.step() == 6 * m + p - 1);
      for (std::int64_t r = 0; r < p; ++r)  // two chunks a micro-batch
        CHECK(most_kept(find_pipeline_schedule("zb-v")->order({p, m, 2}, r)) == 2 * p);
    }
  }
}

TEST_CASE("V-Min keeps a third of the activations of 1F1B, V-Half a half") {
  // Qi et al. 2024, "Pipeline Parallelism with Controllable Memory": (p + 4) // 3 and (p + 2) // 2
  // micro-batches of two chunks, where 1F1B keeps p.
  for (std::int64_t p = 2; p <= 16; ++p) {
    CAPTURE(p);
    CHECK(most_kept_by("v-min", {p, 4 * p, 2}) == 2 * ((p + 4) / 3));
    CHECK(most_kept_by("v-half", {p, 4 * p, 2}) == 2 * ((p + 2) / 2));
  }
}

TEST_CASE("each rank keeps what the table of its paper says") {
  // In passes over a chunk. Qi et al. 2024b, table 1: building blocks of all ranks live equally long, but
  // that V-Min without a gap (p = 3k + 2) has one micro-batch less on every third rank.
  const auto check_ranks = [](const char* name, const ScheduleShape& shape, auto expected) {
    for (std::int64_t r = 0; r < shape.stages; ++r) {
      CAPTURE(std::string(name));
      CAPTURE(r);
      CHECK(most_kept(find_pipeline_schedule(name)->order(shape, r)) == expected(r));
    }
  };
  for (std::int64_t p = 2; p <= 16; ++p) {
    const std::int64_t m = 4 * p;
    CAPTURE(p);
    check_ranks("gpipe", {p, m, 1}, [&](std::int64_t) { return m; });
    check_ranks("1f1b", {p, m, 1}, [&](std::int64_t r) { return p - r; });
    check_ranks("interleaved-1f1b", {p, m, 3}, [&](std::int64_t r) { return 2 * (p - 1 - r) + 2 * p + 1; });
    check_ranks("zb-h1", {p, m, 1}, [&](std::int64_t) { return p; });
    check_ranks("zb-h2", {p, m, 1}, [&](std::int64_t) { return 2 * p - 1; });
    check_ranks("zb-v", {p, m, 2}, [&](std::int64_t) { return 2 * p; });
    check_ranks("v-half", {p, m, 2}, [&](std::int64_t) { return 2 * ((p + 2) / 2); });
    check_ranks("v-min", {p, m, 2},
                [&](std::int64_t r) { return 2 * ((p + 4) / 3) - (p % 3 == 2 && r % 3 == 0 ? 2 : 0); });
    check_ranks("dualpipe-v", {p, m, 2}, [&](std::int64_t) { return 2 * p + 1; });
    if (p % 2 == 0) check_ranks("dualpipe", {p, m, 2}, [&](std::int64_t) { return p + 1; });
  }
}

TEST_CASE("V-Min idles as long as a building block lasts, V-Half little longer than half of one") {
  // In passes; a micro-batch takes 6 of them. The paper has about 2p/3 micro-batches = 4p and p/2 = 3p.
  for (std::int64_t p = 2; p <= 16; ++p) {
    for (const std::int64_t m : {2 * p, 4 * p}) {
      CAPTURE(p);
      CHECK(run("v-min", {p, m, 2}).step() - 6 * m == (p % 3 == 0 ? 4 * p - 3 : 4 * p - 5));
      CHECK(run("v-half", {p, m, 2}).step() - 6 * m == (p % 2 == 0 ? 7 * p / 2 - 2 : 7 * (p - 1) / 2));
    }
  }
}

TEST_CASE("DualPipe idles (PP/2 - 1)(F&B + B - 3W) and keeps PP + 1 passes") {
  // DeepSeek-V3 Technical Report, table 2, where F = W = B/2 and F&B is the time of a pair run as one; run
  // one after the other, the pair hands on its first half sooner: (PP/2 - 1)(F + B - 2W).
  for (const std::int64_t half : {1, 2, 3, 4, 8}) {
    for (const std::int64_t m : {2 * half, 2 * half + 1, 5 * half}) {
      for (const std::int64_t pair : {30, 26, 24}) {
        CAPTURE(half);
        CAPTURE(m);
        const auto most_idle = [](const ScheduleRunner& runner) {
          std::int64_t most = 0;
          for (const RankTimes& rank : runner.ranks()) most = std::max(most, runner.step() - rank.busy);
          return most;
        };
        const PassTimes as_one{10, 10, 10, 0, pair};
        CHECK(most_idle(run("dualpipe-v", {half, m, 2}, as_one)) == (half - 1) * (pair + 20 - 30));
        CHECK(most_idle(run("dualpipe", {2 * half, 2 * m, 2}, as_one)) == (half - 1) * (pair + 20 - 30));
        const PassTimes apart{10, 10, 10};
        CHECK(most_idle(run("dualpipe-v", {half, m, 2}, apart)) == (half - 1) * 10);
        CHECK(most_idle(run("dualpipe", {2 * half, 2 * m, 2}, apart)) == (half - 1) * 10);
      }
      CHECK(most_kept_by("dualpipe-v", {half, m, 2}) == 2 * half + 1);
      CHECK(most_kept_by("dualpipe", {2 * half, 2 * m, 2}) == 2 * half + 1);
    }
  }
}

TEST_CASE("a longer warm-up hides messages and keeps more") {
  // p = 4, m = 16: with messages as long as half a pass, 1F1B waits for them in every round; twice the
  // warm-up, as of ZB-H2, does not.
  const PassTimes times{10, 10, 10, 5};
  const ScheduleRunner usual = run("1f1b", {4, 16, 1}, times);
  const ScheduleRunner longer = run("1f1b", {4, 16, 1, 0, 6}, times);
  CHECK(longer.step() < usual.step());
  CHECK(most_kept_by("1f1b", {4, 16, 1}) == 4);
  CHECK(most_kept_by("1f1b", {4, 16, 1, 0, 6}) == 7);
}

TEST_CASE("interleaved 1F1B has the bubble (p - 1)(f + w) for any number of micro-batches from p on") {
  // p = 4, v = 2, passes of 1 and 2 a chunk: m micro-batches take 6 m, and the bubble is 3 (p - 1) = 9.
  const auto step = [](std::int64_t m, std::int64_t group) {
    return run("interleaved-1f1b", {4, m, 2, group}).step();
  };
  CHECK(step(8, 4) == 6 * 8 + 9);
  CHECK(step(16, 4) == 6 * 16 + 9);
  CHECK(step(10, 5) == 6 * 10 + 9);
  CHECK(step(9, 4) == 6 * 9 + 9);    // groups of 5 and 4
  CHECK(step(11, 4) == 6 * 11 + 9);  // 6 and 5
  CHECK(step(9, 5) == 6 * 9 + 9);
}

TEST_CASE("drawings of schedules have the times that their orders take") {
  for (const PipelineSchedule& schedule : pipeline_schedules()) {
    const bool copies = schedule.placement == ChunkPlacement::bidirectional;
    const ScheduleShape shape{4, 12, copies ? 2 : schedule.chunks == kAnyChunks ? 3 : schedule.chunks};
    CAPTURE(std::string(schedule.name));
    const ScheduleRunner runner = run(std::string(schedule.name).c_str(), shape, {10, 12, 7});
    const auto timed = time_schedule(schedule, shape, {10, 12, 7});
    for (std::size_t r = 0; r < timed.size(); ++r) {
      CHECK(timed[r].front().begin == runner.ranks()[r].begin);
      CHECK(timed[r].back().end == runner.ranks()[r].end);
    }
  }
}

TEST_CASE("orders that wait for each other are an error") {
  PipelineSchedule broken = *find_pipeline_schedule("1f1b");
  broken.order = [](const ScheduleShape& shape, std::int64_t /*stage*/) {
    std::vector<Pass> order;
    for (std::int32_t i = 0; i < shape.micro_batches; ++i) {
      order.push_back({PassKind::backward, i, 0});
      order.push_back({PassKind::forward, i, 0});
    }
    return order;
  };
  CHECK_THROWS_WITH(static_cast<void>(time_schedule(broken, {2, 2, 1})),
                    "the passes of pipeline rank 0 wait for each other");
}
