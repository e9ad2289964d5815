#include "studies/converge/local_update.hpp"

#include <cmath>

namespace orrery {
namespace {

constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-8;

}  // namespace

LocalUpdate::LocalUpdate(const LearningProblem& problem, Eigen::Index length, Eigen::Index workers)
    : momentum_(problem.momentum), adam_(problem.optimizer == LocalOptimizer::adamw) {
  if (adam_ || momentum_ > 0) first_ = Matrix::Zero(length, workers);
  if (!adam_) return;
  second_ = Matrix::Zero(length, workers);
  steps_ = Eigen::VectorXi::Zero(workers);
}

/// Weight decay is the problem's regulariser, so AdamW (Loshchilov and Hutter 2019) is Adam here.
Vector LocalUpdate::direction(Eigen::Index worker, const Vector& gradient) {
  if (adam_) {
    const int step = ++steps_[worker];
    first_.col(worker) = kBeta1 * first_.col(worker) + (1 - kBeta1) * gradient;
    second_.col(worker) = kBeta2 * second_.col(worker) + (1 - kBeta2) * gradient.cwiseProduct(gradient);
    const Eigen::ArrayXd mean = first_.col(worker).array() / (1 - std::pow(kBeta1, step));
    const Eigen::ArrayXd square = second_.col(worker).array() / (1 - std::pow(kBeta2, step));
    return mean / (square.sqrt() + kEpsilon);
  }
  if (momentum_ == 0) return gradient;
  first_.col(worker) = momentum_ * first_.col(worker) + gradient;
  return first_.col(worker);
}

void LocalUpdate::forget(Eigen::Index worker) {
  if (first_.size() > 0) first_.col(worker).setZero();
  if (second_.size() > 0) second_.col(worker).setZero();
  if (steps_.size() > 0) steps_[worker] = 0;
}

}  // namespace orrery
