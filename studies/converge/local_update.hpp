// Implements a worker's local update: plain or heavy-ball SGD, or Adam. Inside studies/converge/.
#pragma once

#include "studies/converge/objective.hpp"

namespace orrery {

/// The optimizer states of all workers.
class LocalUpdate {
 public:
  LocalUpdate(const LearningProblem& problem, Eigen::Index length, Eigen::Index workers);
  /// The direction in which the worker steps (times the learning rate, downwards). Workers are independent.
  [[nodiscard]] Vector direction(Eigen::Index worker, const Vector& gradient);
  /// The worker begins anew.
  void forget(Eigen::Index worker);

 private:
  double momentum_;
  bool adam_;
  Matrix first_, second_;
  Eigen::VectorXi steps_;
};

}  // namespace orrery
