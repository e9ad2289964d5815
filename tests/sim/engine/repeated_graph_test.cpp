// A repeated graph against its unrolled one: times equal to the bit, errors of one kind.
#include "sim/engine/repeated_graph.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sim/engine/deadlock.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/task_graph_builder.hpp"
#include "sim/network/network_model.hpp"

using namespace orrery;

namespace {

using Times = std::vector<Picoseconds>;

struct RandomBody {
  std::mt19937_64 random;

  std::uint64_t pick(std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(random);
  }
  TaskId task(std::uint32_t tasks) { return TaskId{static_cast<std::uint32_t>(pick(0, tasks - 1))}; }

  TaskGraph body(std::uint32_t tasks, bool ids_in_order, bool lagging) {
    TaskGraphBuilder build;
    std::vector<std::uint32_t> place(tasks);
    std::iota(place.begin(), place.end(), 0U);
    if (!ids_in_order) std::shuffle(place.begin(), place.end(), random);
    for (std::uint32_t i = 0; i < tasks; ++i)
      build.add_task(build.add_duration(static_cast<Picoseconds>(pick(0, 100))));
    for (std::uint32_t i = 1; i < tasks; ++i) {
      for (std::uint64_t e = pick(0, 2); e > 0; --e)
        build.add_edge(TaskId{place[pick(0, i - 1)]}, TaskId{place[i]});
    }
    TaskGraph graph = std::move(build).finish();
    for (std::uint32_t i = 0; lagging && i < tasks; ++i)
      graph.lag.push_back(static_cast<Picoseconds>(pick(0, 1) * pick(0, 150)));
    return graph;
  }

  RepeatedGraph make(bool ids_in_order, bool lagging) {
    const auto tasks = static_cast<std::uint32_t>(pick(1, 40));
    TaskGraph graph = body(tasks, ids_in_order, lagging);
    std::vector<CarriedEdge> carried(pick(0, 2 * tasks));
    for (CarriedEdge& edge : carried) edge = {task(tasks), task(tasks)};
    return {std::move(graph), carried, pick(0, 9)};
  }
};

void check_equals_unrolled(const RepeatedGraph& graph) {
  const RepeatedTimes times = run_contention_free(graph);
  const Timeline unrolled = run_contention_free(unroll(graph));
  const std::uint32_t tasks = graph.body().tasks();
  REQUIRE(unrolled.start_ps.size() == tasks * graph.iterations());
  REQUIRE(times.makespan_ps == unrolled.makespan_ps);
  if (graph.iterations() == 0) {
    REQUIRE(times.finish_ps == Times(tasks, 0));
    return;
  }
  REQUIRE(times.start_ps == Times(unrolled.start_ps.end() - tasks, unrolled.start_ps.end()));
  REQUIRE(times.finish_ps == Times(unrolled.finish_ps.end() - tasks, unrolled.finish_ps.end()));
}

/// A task of 7 ps and one of 5 ps after it; the first waits for the second of the iteration before.
RepeatedGraph loop(std::uint64_t iterations) {
  TaskGraphBuilder build;
  const TaskId first = build.add_task(build.add_duration(7));
  const TaskId second = build.add_task(build.add_duration(5), {first});
  return {std::move(build).finish(), std::vector<CarriedEdge>{{second, first}}, iterations};
}

}  // namespace

TEST_CASE("a repeated graph has the times of the unrolled one, to the bit") {
  for (std::uint32_t seed = 1; seed <= 600; ++seed) {
    CAPTURE(seed);
    check_equals_unrolled(RandomBody{std::mt19937_64(seed)}.make(seed % 2 == 0, seed % 3 == 0));
  }
}

TEST_CASE("a loop of two tasks adds up") {
  const RepeatedTimes times = run_contention_free(loop(1'000'000));
  CHECK(times.start_ps == Times{999'999 * 12, 999'999 * 12 + 7});
  CHECK(times.finish_ps == Times{999'999 * 12 + 7, 1'000'000 * 12});
  CHECK(times.makespan_ps == 12'000'000);
}

TEST_CASE("iterations without carried edges all run at the same time") {
  TaskGraphBuilder build;
  build.add_task(build.add_duration(3));
  const RepeatedGraph graph(std::move(build).finish(), {}, 5);
  CHECK(run_contention_free(graph).makespan_ps == 3);
  CHECK(unroll(graph).tasks() == 5);
}

TEST_CASE("the makespan is that of all iterations, not of the last") {
  // 9 then 2 ps in the body, but the next iteration waits for the short task alone.
  TaskGraphBuilder build;
  build.add_task(build.add_duration(9));
  const TaskId tail = build.add_task(build.add_duration(2));
  const std::vector<CarriedEdge> carried{{tail, tail}};
  const RepeatedGraph graph(std::move(build).finish(), carried, 3);
  const RepeatedTimes times = run_contention_free(graph);
  CHECK(times.finish_ps == Times{9, 6});
  CHECK(times.makespan_ps == 9);
}

TEST_CASE("repeated graphs refuse what does not exist") {
  TaskGraphBuilder build;
  build.add_task(build.add_duration(1));
  const TaskGraph body = std::move(build).finish();
  CHECK_THROWS_WITH_AS(RepeatedGraph(body, std::vector<CarriedEdge>{{TaskId{3}, TaskId{0}}}, 2), "no task 3",
                       std::out_of_range);
  CHECK_THROWS_WITH_AS(RepeatedGraph(body, std::vector<CarriedEdge>{{TaskId{0}, TaskId{4}}}, 2), "no task 4",
                       std::out_of_range);
  const RepeatedGraph many(body, {}, std::uint64_t{1} << 32);
  CHECK_THROWS_AS((void)unroll(many), std::length_error);
}

TEST_CASE("a cycle in the body is a deadlock") {
  TaskGraphBuilder build;
  const CostId one = build.add_duration(1);
  build.add_task(one, {TaskId{1}});
  build.add_task(one, {TaskId{0}});
  const RepeatedGraph graph(std::move(build).finish(), {}, 2);
  CHECK_THROWS_WITH_AS((void)run_contention_free(graph), "deadlock: task 0 waits for 1, 1 waits for 0",
                       DeadlockError);
}

TEST_CASE("repeated time ends in an error, never in a wrap") {
  TaskGraphBuilder build;
  const TaskId task = build.add_task(build.add_duration(kTimeLimit / 4));
  const TaskGraph body = std::move(build).finish();
  const std::vector<CarriedEdge> carried{{task, task}};
  CHECK(run_contention_free(RepeatedGraph(body, carried, 4)).makespan_ps == kTimeLimit);
  CHECK_THROWS_AS((void)run_contention_free(RepeatedGraph(body, carried, 5)), std::overflow_error);
  CHECK_THROWS_AS((void)run_contention_free(unroll(RepeatedGraph(body, carried, 5))), std::overflow_error);
}
