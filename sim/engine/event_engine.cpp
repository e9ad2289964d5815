#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sim/engine/checked_time.hpp"
#include "sim/engine/deadlock.hpp"
#include "sim/engine/engine.hpp"
#include "sim/engine/successors.hpp"
#include "sim/network/radix_queue.hpp"

namespace orrery {
namespace {

class EventEngine {
 public:
  EventEngine(const TaskGraph& graph, NetworkModel& network);
  Timeline run();

 private:
  void handle_time(Picoseconds now);
  void release(std::uint32_t task);
  void continue_legs(std::uint32_t task, Picoseconds time);
  void start_flow(std::uint32_t task);
  void settle(std::uint32_t task, Picoseconds finish);
  void settle_successors();
  [[nodiscard]] const Cost& cost_of(std::uint32_t task) const { return costs_[cost_[task]]; }

  const TaskGraph& graph_;
  const std::uint32_t* cost_;  ///< of the graph, as costs_
  const Cost* costs_;
  NetworkModel& network_;
  const Successors successors_;
  /// Per task, the number of predecessors left before it starts, and then of legs left before it finishes.
  std::vector<std::uint32_t> left_;
  Timeline timeline_;  // start_ps is the latest finish seen so far until all predecessors are known
  RadixQueue starts_;  // of flows, by task
  std::vector<std::uint32_t> settled_;   // tasks whose successors do not know yet
  std::vector<std::uint32_t> finished_;  // flows, by task
  Picoseconds now_ = 0;
};

EventEngine::EventEngine(const TaskGraph& graph, NetworkModel& network)
    : graph_(graph),
      cost_(graph.cost.data()),
      costs_(graph.costs.data()),
      network_(network),
      successors_(graph),
      left_(predecessor_counts(graph)) {
  timeline_.start_ps.resize(graph.tasks());
  timeline_.finish_ps.resize(graph.tasks());
}

Timeline EventEngine::run() {
  network_.reset();
  for (std::uint32_t task = 0; task < graph_.tasks(); ++task) {
    if (graph_.predecessors(task).empty()) release(task);
  }
  settle_successors();
  while (true) {
    const Picoseconds now = std::min(starts_.next(), network_.next_event());
    if (now == kNever) break;
    if (now > kTimeLimit) throw std::overflow_error("a flow ends later than 2^62 ps (53 days)");
    handle_time(now);
  }
  throw_if_waiting(graph_, left_);
  return std::move(timeline_);
}

/// Ends before starts, so that the network shares its links once.
void EventEngine::handle_time(Picoseconds now) {
  now_ = now;
  finished_.clear();
  network_.advance(now, finished_);
  timeline_.events += finished_.size();
  for (const std::uint32_t task : finished_) {
    --left_[task];
    continue_legs(task, now);
  }
  settle_successors();
  for (std::uint32_t task = 0; starts_.pop(now, task);) start_flow(task);
}

/// All predecessors of the task are known.
void EventEngine::release(std::uint32_t task) {
  const Cost& cost = cost_of(task);
  const Picoseconds start = timeline_.start_ps[task];
  left_[task] = cost.leg_end - cost.leg_begin;
  if (left_[task] > 0) return continue_legs(task, start);
  settle(task, later(start, cost.duration_ps, task));
}

/// From `time` on, advances through latencies and uncontended legs, up to the next flow or the end.
void EventEngine::continue_legs(std::uint32_t task, Picoseconds time) {
  for (const std::uint32_t end = cost_of(task).leg_end; left_[task] > 0; --left_[task]) {
    const Leg& leg = graph_.legs[end - left_[task]];
    time = later(time, leg.latency_ps, task);
    if (leg.alone_ps > 0 && leg.use_begin != leg.use_end) {
      return time == now_ ? start_flow(task) : starts_.push(time, task);
    }
    time = later(time, leg.alone_ps, task);
  }
  settle(task, time);
}

void EventEngine::start_flow(std::uint32_t task) {
  const Leg& leg = graph_.legs[cost_of(task).leg_end - left_[task]];
  network_.start(task, leg, {graph_.uses.data() + leg.use_begin, graph_.uses.data() + leg.use_end});
  ++timeline_.events;
}

void EventEngine::settle(std::uint32_t task, Picoseconds finish) {
  timeline_.finish_ps[task] = finish;
  timeline_.makespan_ps = std::max(timeline_.makespan_ps, finish);
  settled_.push_back(task);
}

void EventEngine::settle_successors() {
  while (!settled_.empty()) {
    const std::uint32_t task = settled_.back();
    settled_.pop_back();
    const Picoseconds finish = timeline_.finish_ps[task];
    for (const std::uint32_t next : successors_.of(task)) {
      Picoseconds& start = timeline_.start_ps[next];
      start = std::max(start, released(graph_, next, task, finish));
      if (--left_[next] == 0) release(next);
    }
  }
}

}  // namespace

Timeline run(const TaskGraph& graph, NetworkModel& network) { return EventEngine(graph, network).run(); }

}  // namespace orrery
