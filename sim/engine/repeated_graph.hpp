// Runs a body of tasks many times over, without the graph of all its runs: the steps of a ring, the rounds of
// gossip, the steps of a training run. Memory is that of one body, however often it runs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "orrery/ids.hpp"
#include "orrery/task_graph.hpp"
#include "orrery/units.hpp"

namespace orrery {

/// Says that, from the second iteration on, `to` waits for `from` of the previous iteration.
struct CarriedEdge {
  TaskId from{};
  TaskId to{};
};

class RepeatedGraph {
 public:
  /// Throws std::out_of_range for an edge between tasks that do not exist.
  RepeatedGraph(TaskGraph body, std::span<const CarriedEdge> carried, std::uint64_t iterations);

  [[nodiscard]] const TaskGraph& body() const { return body_; }
  [[nodiscard]] std::uint64_t iterations() const { return iterations_; }
  /// Returns the tasks of the previous iteration that `task` waits for, in the order of the edges given.
  [[nodiscard]] std::span<const std::uint32_t> carried(std::uint32_t task) const {
    return {carried_.data() + begin_[task], carried_.data() + begin_[task + 1]};
  }

 private:
  TaskGraph body_;
  std::vector<std::uint32_t> begin_;  // per task + 1: range in carried_
  std::vector<std::uint32_t> carried_;
  std::uint64_t iterations_;
};

/// Holds the times of the last iteration, and the latest finish of all.
struct RepeatedTimes {
  std::vector<Picoseconds> start_ps;
  std::vector<Picoseconds> finish_ps;
  Picoseconds makespan_ps = 0;
};

/// The times that run_contention_free() gives the unrolled graph, to the bit, and errors of the same types.
[[nodiscard]] RepeatedTimes run_contention_free(const RepeatedGraph& graph);

/// Returns a graph with one task per iteration and task of the body, iteration after iteration; lags count
/// from predecessors of the same iteration. Throws std::length_error for 2^32 tasks or edges and more.
[[nodiscard]] TaskGraph unroll(const RepeatedGraph& graph);

}  // namespace orrery
