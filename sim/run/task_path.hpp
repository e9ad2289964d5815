// Follows a path through the tasks of a step, and gives its length at other prices.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/step/step.hpp"

namespace orrery {

/// Holds the critical path of a step. Its length is a sum of its tasks' costs and of lags behind the host;
/// the delay of a transfer by others on its links scales with the time that its data take alone.
class TaskPath {
 public:
  explicit TaskPath(const SimulatedStep& step);

  /// Returns the length in ps at the costs of `graph`, which has the same tasks. Without contention (exact())
  /// no step with these costs takes less.
  [[nodiscard]] double length(const TaskGraph& graph) const;
  /// Returns true if every transfer of the path takes as long as without contention.
  [[nodiscard]] bool exact() const { return exact_; }
  [[nodiscard]] std::size_t tasks() const { return places_.size(); }

 private:
  struct Place {
    std::uint32_t task = 0;
    bool lags = false;     ///< starts its lag after the task before
    double stretched = 1;  ///< time in which its data move over that which they take alone
  };
  std::vector<Place> places_;
  bool exact_ = true;
};

}  // namespace orrery
