// Tracks the workers that take part: some leave and join while a method runs. Internal to studies/converge/.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/gossip_graph.hpp"
#include "orrery/problem.hpp"
#include "studies/converge/objective.hpp"

namespace orrery {

class Presence {
 public:
  /// Starts with all `workers` workers, without those that join first.
  /// @throws InputError at /problem/changes for workers that do not exist, that leave while they are away or
  /// join while they are present, and if none is left.
  Presence(const LearningProblem& problem, std::int64_t workers);

  [[nodiscard]] bool has(Eigen::Index worker) const { return present_[static_cast<std::size_t>(worker)]; }
  [[nodiscard]] bool everyone() const { return count_ == std::ssize(present_); }
  [[nodiscard]] std::int64_t count() const { return count_; }
  void set(std::int64_t worker, bool present);

  /// Returns the mean of the columns of present workers.
  [[nodiscard]] Vector mean(const Matrix& columns) const;
  /// Returns a graph over present workers as one over all: absent ones have no neighbours.
  [[nodiscard]] GossipGraph spread(const GossipGraph& graph) const;

 private:
  std::vector<bool> present_;
  std::int64_t count_ = 0;
};

}  // namespace orrery
