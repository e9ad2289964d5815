// Lists the successors of each task: the edges of a task graph turned round. Built per run by the engines
// that visit tasks in another order than that of their ids.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "orrery/task_graph.hpp"

namespace orrery {

class Successors {
 public:
  explicit Successors(const TaskGraph& graph);
  /// Returns the successors, with an entry per edge, so a task that names a predecessor twice appears twice.
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t task) const {
    return {ids_.data() + begin_[task], ids_.data() + begin_[task + 1]};
  }

 private:
  std::vector<std::uint32_t> begin_;
  std::vector<std::uint32_t> ids_;
};

/// Returns, per task, the number of edges from predecessors.
[[nodiscard]] std::vector<std::uint32_t> predecessor_counts(const TaskGraph& graph);

}  // namespace orrery
