#include <algorithm>
#include <utility>
#include <vector>

#include "sim/engine/checked_time.hpp"
#include "sim/engine/deadlock.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/successors.hpp"

namespace orrery {
namespace {

/// False when a task comes before one of its predecessors; the times are then incomplete.
template <bool kLagging>
bool sweep(const TaskGraph& graph, Timeline& timeline) {
  const std::uint32_t* const preds = graph.preds.data();
  const std::uint32_t* const pred_begin = graph.pred_begin.data();
  const std::uint32_t* const cost = graph.cost.data();
  const Cost* const costs = graph.costs.data();
  const Picoseconds* const lag = graph.lag.data();
  Picoseconds* const begin = timeline.start_ps.data();
  Picoseconds* const finish = timeline.finish_ps.data();
  const std::uint32_t tasks = graph.tasks();
  Picoseconds makespan = 0;
  const std::uint32_t* pred = graph.preds.data();
  for (std::uint32_t task = 0; task < tasks; ++task) {
    const std::uint32_t* const last = preds + pred_begin[task + 1];
    Picoseconds start = 0;
    if (kLagging && pred != last && *pred < task) start = later(finish[*pred], lag[task], task);
    for (; pred != last; ++pred) {
      if (*pred >= task) return false;
      start = std::max(start, finish[*pred]);
    }
    begin[task] = start;
    finish[task] = later(start, costs[cost[task]].duration_ps, task);
    makespan = std::max(makespan, finish[task]);
  }
  timeline.makespan_ps = makespan;
  return true;
}

/// Kahn's algorithm: "Topological sorting of large networks", CACM 5 (1962).
void run_in_any_order(const TaskGraph& graph, Timeline& timeline) {
  const Successors successors(graph);
  std::vector<std::uint32_t> waiting = predecessor_counts(graph);
  std::vector<std::uint32_t> ready;
  for (std::uint32_t task = graph.tasks(); task-- > 0;) {
    if (waiting[task] == 0) ready.push_back(task);
  }
  while (!ready.empty()) {
    const std::uint32_t task = ready.back();
    ready.pop_back();
    const Picoseconds finish = later(timeline.start_ps[task], graph.cost_of(task).duration_ps, task);
    timeline.finish_ps[task] = finish;
    timeline.makespan_ps = std::max(timeline.makespan_ps, finish);
    for (const std::uint32_t next : successors.of(task)) {
      timeline.start_ps[next] = std::max(timeline.start_ps[next], released(graph, next, task, finish));
      if (--waiting[next] == 0) ready.push_back(next);
    }
  }
  throw_if_waiting(graph, waiting);
}

}  // namespace

Timeline run_contention_free(const TaskGraph& graph, Timeline room) {
  Timeline timeline = std::move(room);
  timeline.makespan_ps = 0;
  timeline.events = 0;
  timeline.start_ps.resize(graph.tasks());
  timeline.finish_ps.resize(graph.tasks());
  const bool swept = graph.lag.empty() ? sweep<false>(graph, timeline) : sweep<true>(graph, timeline);
  if (swept) return timeline;
  std::fill(timeline.start_ps.begin(), timeline.start_ps.end(), 0);
  run_in_any_order(graph, timeline);
  return timeline;
}

}  // namespace orrery
