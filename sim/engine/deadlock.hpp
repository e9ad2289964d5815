// Tasks that wait for each other.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "orrery/task_graph.hpp"

namespace orrery {

/// Reports tasks that cannot start. The message lists the ids of one waiting cycle; a caller that knows the
/// tasks can print names from cycle().
class DeadlockError : public std::runtime_error {
 public:
  explicit DeadlockError(std::vector<TaskId> cycle);
  /// Each task waits for the next one, the last for the first.
  [[nodiscard]] const std::vector<TaskId>& cycle() const { return cycle_; }

 private:
  std::vector<TaskId> cycle_;
};

/// Throws DeadlockError if tasks are left waiting: waiting[t] > 0. The cycle starts with its lowest
/// task.
void throw_if_waiting(const TaskGraph& graph, std::span<const std::uint32_t> waiting);

}  // namespace orrery
