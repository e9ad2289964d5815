// Holds a frozen graph of tasks, the input of the engine. A task is an index into arrays; it has a cost and
// predecessors, and nothing else. Which rank, layer or micro-batch it belongs to is known elsewhere.
//
// A stream (a resource that serves tasks in a fixed order) is an edge from each of its tasks to the
// next, so a start time is the latest finish of the predecessors. Only transfers that share links
// need more than that: see sim/network/.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "orrery/ids.hpp"
#include "orrery/shared_array.hpp"
#include "orrery/units.hpp"

namespace orrery {

/// Weight of a link that carries one full-size message of a leg.
inline constexpr std::uint64_t kWeightOne = 1 << 16;

/// Says how much of a link a leg uses: `rate * weight / kWeightOne` bytes/s when the leg moves at `rate`.
struct LinkUse {
  LinkId link{};
  std::uint64_t weight = kWeightOne;
};

/// Describes one part of a transfer: messages that start together and keep the same pace. All messages of a
/// ring step form one leg; equal steps in sequence are one leg with their latencies added.
struct Leg {
  Picoseconds latency_ps = 0;   ///< passes before any data moves
  Picoseconds alone_ps = 0;     ///< time the data takes when no one else uses the links
  std::int64_t rate = 0;        ///< pace when alone: min over links of bandwidth * kWeightOne / weight
  std::uint32_t use_begin = 0;  ///< its links are TaskGraph::uses[use_begin, use_end)
  std::uint32_t use_end = 0;
};

/// Describes the cost of a task. Tasks of equal cost share an entry. Without legs it is a fixed duration.
struct Cost {
  Picoseconds duration_ps = 0;  ///< all of it, when alone: the sum over legs of latency and data
  std::uint32_t leg_begin = 0;  ///< TaskGraph::legs[leg_begin, leg_end), one after the other
  std::uint32_t leg_end = 0;
};

struct TaskGraph {
  SharedArray<std::uint32_t> cost;        ///< per task: index into costs
  SharedArray<std::uint32_t> pred_begin;  ///< per task + 1: range in preds
  SharedArray<std::uint32_t> preds;       ///< task ids; duplicates allowed
  /// Per task: passes between the finish of its first predecessor and its start, at least. Empty: 0.
  std::vector<Picoseconds> lag{};
  std::vector<Cost> costs;
  std::vector<Leg> legs;
  std::vector<LinkUse> uses;

  [[nodiscard]] std::uint32_t tasks() const { return static_cast<std::uint32_t>(cost.size()); }
  [[nodiscard]] std::span<const std::uint32_t> predecessors(std::uint32_t task) const {
    return {preds.data() + pred_begin[task], preds.data() + pred_begin[task + 1]};
  }
  /// Returns true if `task` starts its lag after `pred`.
  [[nodiscard]] bool lags(std::uint32_t task, std::uint32_t pred) const {
    return !lag.empty() && preds[pred_begin[task]] == pred;
  }
  /// Returns when `task` may start as far as its predecessor `pred`, which ends at `finish`, is concerned.
  [[nodiscard]] Picoseconds released(std::uint32_t task, std::uint32_t pred, Picoseconds finish) const {
    return lags(task, pred) ? finish + lag[task] : finish;
  }
  [[nodiscard]] const Cost& cost_of(std::uint32_t task) const { return costs[cost[task]]; }
};

/// Holds the times of each task.
struct Timeline {
  std::vector<Picoseconds> start_ps;
  std::vector<Picoseconds> finish_ps;
  Picoseconds makespan_ps = 0;  ///< latest finish
  std::uint64_t events = 0;     ///< queue events handled; 0 when all tasks settled without the queue
};

}  // namespace orrery
