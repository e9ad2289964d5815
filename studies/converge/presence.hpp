// Which workers take part: those that leave and join while a method runs. Internal to studies/converge/.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/gossip_graph.hpp"
#include "orrery/problem.hpp"
#include "studies/converge/objective.hpp"

namespace orrery {

class Presence {
 public:
  /// All of so many workers, without those that join first.
  /// @throws InputError at /problem/changes for workers that there are not, that leave while they are away or
  /// join while they are there, and where none is left.
  Presence(const LearningProblem& problem, std::int64_t workers);

  [[nodiscard]] bool has(Eigen::Index worker) const { return present_[static_cast<std::size_t>(worker)]; }
  [[nodiscard]] bool everyone() const { return count_ == std::ssize(present_); }
  [[nodiscard]] std::int64_t count() const { return count_; }
  void set(std::int64_t worker, bool present);

  /// Mean of the columns of those that are there.
  [[nodiscard]] Vector mean(const Matrix& columns) const;
  /// A graph over those that are there, as one over all: the others keep to themselves.
  [[nodiscard]] GossipGraph spread(const GossipGraph& graph) const;

 private:
  std::vector<bool> present_;
  std::int64_t count_ = 0;
};

}  // namespace orrery
