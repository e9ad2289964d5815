// Hand cases. Times in ps, links in bytes/s, small numbers so that the arithmetic fits in comments.
#include "sim/engine/engine.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sim/engine/deadlock.hpp"
#include "sim/engine/task_graph_builder.hpp"
#include "sim/network/flow_network.hpp"

using namespace orrery;

namespace {

using Times = std::vector<Picoseconds>;

Timeline run_on(const std::vector<std::int64_t>& bytes_per_s, const TaskGraph& graph) {
  FlowNetwork network(bytes_per_s);
  return run(graph, network);
}

LinkUse on_link(std::uint32_t link) { return {LinkId{link}, kWeightOne}; }

/// Both engines agree, and their finish times are these.
void check_finishes(const TaskGraph& graph, const Times& expected) {
  const Timeline sweep = run_contention_free(graph);
  const Timeline events = run_on({10, 10, 10, 10}, graph);
  CHECK(sweep.finish_ps == expected);
  CHECK(events.finish_ps == expected);
  CHECK(sweep.start_ps == events.start_ps);
  CHECK(sweep.makespan_ps == events.makespan_ps);
}

}  // namespace

TEST_CASE("nothing to do takes no time") { check_finishes(TaskGraphBuilder().finish(), {}); }

TEST_CASE("a chain adds up") {
  TaskGraphBuilder build;
  const CostId cost = build.add_duration(5);
  const TaskId first = build.add_task(cost);
  const TaskId second = build.add_task(build.add_duration(7), {first});
  build.add_task(cost, {second});
  check_finishes(std::move(build).finish(), {5, 12, 17});
}

TEST_CASE("a join waits for the slowest branch") {
  TaskGraphBuilder build;
  const TaskId fork = build.add_task(build.add_duration(1));
  const TaskId fast = build.add_task(build.add_duration(2), {fork});
  const TaskId slow = build.add_task(build.add_duration(9), {fork});
  build.add_task(build.add_duration(4), {fast, slow, fast});  // duplicates are allowed
  check_finishes(std::move(build).finish(), {1, 3, 10, 14});  // 1 + 9 + 4
}

TEST_CASE("streams serve in order") {
  TaskGraphBuilder build;
  const StreamId compute = build.add_stream();
  const StreamId comm = build.add_stream();
  const CostId five = build.add_duration(5);
  const TaskId a = build.add_task_on({compute}, five);        // 0 to 5
  build.add_task_on({compute}, five);                         // 5 to 10
  build.add_task_on({comm}, build.add_duration(20), {a});     // 5 to 25
  build.add_task_on({compute, comm}, build.add_duration(1));  // max(10, 25) to 26
  build.add_task_on({compute}, five);                         // 26 to 31
  check_finishes(std::move(build).finish(), {5, 10, 25, 26, 31});
}

TEST_CASE("edges to lower ids: any order of tasks gives the same times") {
  TaskGraphBuilder build;
  const CostId three = build.add_duration(3);
  const TaskId last = build.add_task(three);
  const TaskId middle = build.add_task(three);
  build.add_edge(middle, last);
  build.add_edge(TaskId{2}, middle);  // a task added later
  build.add_task(three);
  check_finishes(std::move(build).finish(), {9, 6, 3});
}

TEST_CASE("a lag counts from the first predecessor only") {
  TaskGraphBuilder build;
  const CostId one = build.add_duration(1);
  const TaskId a = build.add_task(build.add_duration(5));
  const TaskId b = build.add_task(build.add_duration(9));
  build.add_task(one, {a, b});
  build.add_task(one, {b, a});
  build.add_task(one, {a, b});
  build.add_task(one, {a, a, b});
  build.add_task(one);
  TaskGraph graph = std::move(build).finish();
  graph.lag = {50, 50, 7, 7, 3, 7, 50};
  // max(9, 5 + 7) + 1, max(5, 9 + 7) + 1, max(9, 5 + 3) + 1, max(9, 5 + 7) + 1; without predecessors: 0 + 1.
  check_finishes(graph, {5, 9, 13, 17, 10, 13, 1});
}

TEST_CASE("lags in any order of ids") {
  TaskGraphBuilder build;
  const CostId three = build.add_duration(3);
  build.add_task(three, {TaskId{1}, TaskId{2}});
  build.add_task(three, {TaskId{2}});
  build.add_task(three);
  TaskGraph graph = std::move(build).finish();
  graph.lag = {4, 10, 0};
  check_finishes(graph, {23, 16, 3});  // 3; 3 + 10 + 3; max(16 + 4, 3) + 3
  // With the other predecessor first: max(3 + 4, 16) + 3.
  std::swap(graph.preds.edit()[0], graph.preds.edit()[1]);
  check_finishes(graph, {19, 16, 3});
}

TEST_CASE("a transfer starts after its lag") {
  TaskGraphBuilder build;
  const TaskId before = build.add_task(build.add_duration(5));
  build.add_task(build.add_transfer({{2, 30, 10, {on_link(0)}}}), {before});
  TaskGraph graph = std::move(build).finish();
  graph.lag = {0, 8};
  check_finishes(graph, {5, 45});  // 5 + 8 + 2 + 30
}

TEST_CASE("a transfer is its legs, one after the other") {
  TaskGraphBuilder build;
  const TaskId before = build.add_task(build.add_duration(11));
  // 2 + 30 + 4 + 50, then 6 of latency without data.
  const TaskId transfer = build.add_task(
      build.add_transfer(
          {{2, 30, 10, {on_link(0), on_link(1)}}, {4, 50, 10, {on_link(2)}}, {6, 0, 10, {on_link(3)}}}),
      {before});
  build.add_task(build.add_duration(1), {transfer});
  check_finishes(std::move(build).finish(), {11, 103, 104});  // 11 + 92 = 103
}

TEST_CASE("transfers of no data or no links need no network") {
  TaskGraphBuilder build;
  const TaskId first = build.add_task(build.add_transfer({{3, 0, 10, {on_link(0)}}, {4, 20, 10, {}}}));
  build.add_task(build.add_duration(1), {first});
  const TaskGraph graph = std::move(build).finish();
  check_finishes(graph, {27, 28});
  CHECK(run_on({10, 10, 10, 10}, graph).events == 0);
}

TEST_CASE("two transfers that overlap on a link share it while they do") {
  TaskGraphBuilder build;
  const TaskId early = build.add_task(build.add_transfer({{0, 100, 10, {on_link(0)}}}));
  const TaskId wait = build.add_task(build.add_duration(30));
  const TaskId late = build.add_task(build.add_transfer({{10, 40, 10, {on_link(0)}}}), {wait});
  build.add_task(build.add_duration(1), {early, late});
  // early moves 400 of 1000 by 40, when late's data (400) starts. Both at 5: late ends at 40 + 80 = 120.
  // early has 1000 - 400 - 400 = 200 left at 10: 140.
  const Timeline timeline = run_on({10}, std::move(build).finish());
  CHECK(timeline.finish_ps == Times{140, 30, 120, 141});
  CHECK(timeline.start_ps == Times{0, 0, 30, 140});
  CHECK(timeline.events == 4);  // two starts, two ends
}

TEST_CASE("a leg that ends lets the next one in at the same time") {
  TaskGraphBuilder build;
  const CostId hop = build.add_transfer({{0, 50, 10, {on_link(0)}}});
  const TaskId first = build.add_task(hop);
  const TaskId second = build.add_task(hop, {first});
  build.add_task(hop, {second});
  CHECK(run_on({10}, std::move(build).finish()).finish_ps == Times{50, 100, 150});
}

TEST_CASE("a deadlock names the tasks that wait") {
  TaskGraphBuilder build;
  const CostId cost = build.add_duration(1);
  for (int i = 0; i < 6; ++i) build.add_task(cost);
  build.add_edge(TaskId{4}, TaskId{2});  // 2 waits for 4
  build.add_edge(TaskId{5}, TaskId{4});
  build.add_edge(TaskId{2}, TaskId{5});
  build.add_edge(TaskId{2}, TaskId{3});  // waits too, but is not in the cycle
  const TaskGraph graph = std::move(build).finish();
  const char* message = "deadlock: task 2 waits for 4, 4 waits for 5, 5 waits for 2";
  CHECK_THROWS_WITH_AS((void)run_contention_free(graph), message, DeadlockError);
  CHECK_THROWS_WITH_AS((void)run_on({10}, graph), message, DeadlockError);
  try {
    (void)run_contention_free(graph);
  } catch (const DeadlockError& error) {
    CHECK(error.cycle() == std::vector<TaskId>{TaskId{2}, TaskId{4}, TaskId{5}});
  }
}

TEST_CASE("a task that waits for itself") {
  TaskGraphBuilder build;
  const TaskId task = build.add_task(build.add_duration(1));
  build.add_edge(task, task);
  CHECK_THROWS_WITH((void)run_contention_free(std::move(build).finish()), "deadlock: task 0 waits for 0");
}

TEST_CASE("time ends in an error, never in a wrap") {
  TaskGraphBuilder build;
  const CostId half = build.add_duration(kTimeLimit / 2);
  const TaskId first = build.add_task(half);
  const TaskId second = build.add_task(half, {first});  // exactly at the limit
  TaskGraphBuilder beyond = build;
  check_finishes(std::move(build).finish(), {kTimeLimit / 2, kTimeLimit});
  beyond.add_task(beyond.add_duration(1), {second});
  const TaskGraph graph = std::move(beyond).finish();
  CHECK_THROWS_AS((void)run_contention_free(graph), std::overflow_error);
  CHECK_THROWS_AS((void)run_on({10}, graph), std::overflow_error);
}

TEST_CASE("a lag ends in an error too, never in a wrap") {
  constexpr Picoseconds kMost = std::numeric_limits<Picoseconds>::max();
  for (const bool in_order : {true, false}) {
    CAPTURE(in_order);
    TaskGraphBuilder build;
    const std::uint32_t first = in_order ? 0 : 1;
    const std::uint32_t second = 1 - first;
    build.add_task(build.add_duration(in_order ? 5 : 0));
    build.add_task(build.add_duration(in_order ? 0 : 5));
    build.add_edge(TaskId{first}, TaskId{second});
    TaskGraph graph = std::move(build).finish();
    graph.lag.assign(2, 0);
    graph.lag[second] = kTimeLimit - 5;  // 5 + limit - 5: exactly at the limit
    CHECK(run_contention_free(graph).makespan_ps == kTimeLimit);
    CHECK(run_on({10}, graph).makespan_ps == kTimeLimit);
    for (const Picoseconds lag : {kTimeLimit - 4, kTimeLimit + 1, kMost - 4, kMost}) {
      graph.lag[second] = lag;
      CHECK_THROWS_AS((void)run_contention_free(graph), std::overflow_error);
      CHECK_THROWS_AS((void)run_on({10}, graph), std::overflow_error);
    }
  }
}

TEST_CASE("a flow slowed beyond the end of time is an error") {
  TaskGraphBuilder build;
  const CostId cost = build.add_transfer({{0, kTimeLimit - 5, 10, {on_link(0)}}});
  build.add_task(cost);
  build.add_task(cost);
  CHECK_THROWS_AS((void)run_on({10}, std::move(build).finish()), std::overflow_error);
}

TEST_CASE("a negative duration is an error") {
  TaskGraphBuilder build;
  build.add_task(build.add_duration(-3));
  CHECK_THROWS_WITH_AS((void)run_contention_free(std::move(build).finish()),
                       "task 0: negative duration of -3 ps", std::invalid_argument);
}

TEST_CASE("the builder refuses what does not exist") {
  TaskGraphBuilder build;
  build.add_task(build.add_duration(1), {TaskId{9}});
  CHECK_THROWS_WITH_AS((void)std::move(build).finish(), "no task 9", std::out_of_range);
  TaskGraphBuilder costs;
  costs.add_task(CostId{0});
  CHECK_THROWS_WITH_AS((void)std::move(costs).finish(), "no cost 0", std::out_of_range);
}
