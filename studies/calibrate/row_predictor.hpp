// Predictions of rows for any values of the variables. Internal to calibration/.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "studies/calibrate/fit_problem.hpp"
#include "studies/validate/validate.hpp"

namespace orrery {

/// Errors of a step time below this do not matter: the model leaves out as much of a run.
inline constexpr double kErrorOfInterest = 0.05;

/// pseudo-Huber: a square for small errors, a line for those far above `kErrorOfInterest`, so that a run that
/// no constant explains does not bend them all.
[[nodiscard]] double robust_loss(double log_ratio);
/// Returns the weight of a row's squared residual in the fit.
[[nodiscard]] double robust_weight(double log_ratio);

class RowPredictor {
 public:
  RowPredictor(const FitProblem& problem, unsigned threads);

  /// predicted / measured of `rows` (indices into the problem's), with `values` of the variables.
  /// @throws InputError for a row that cannot be simulated.
  [[nodiscard]] std::vector<double> ratios(std::span<const std::size_t> rows, std::span<const double> values);
  /// Mean robust loss of `rows`.
  [[nodiscard]] double loss(std::span<const std::size_t> rows, std::span<const double> values);

 private:
  [[nodiscard]] double ratio(const FitRow& row, std::span<const double> values);

  const FitProblem& problem_;
  unsigned threads_;
  Simulator simulator_;  ///< evaluations of a row differ in prices alone
};

}  // namespace orrery
