// Minimises a function of a few variables, without derivatives. Plain numbers; knows nothing of fits.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace orrery {

/// Names the algorithms of `minimize`, in words.
inline constexpr const char* kMinimizer = "BOBYQA, then subplex";

using FitObjective = std::function<double(std::span<const double>)>;

struct Minimum {
  std::vector<double> at;
  double value = 0;
  int evaluations = 0;
};

/// Returns the best point found in the unit cube from `start` in it, with first steps of `step` and at most
/// `evaluations` (above 0) evaluations. Deterministic. Rethrows exceptions of `objective`.
[[nodiscard]] Minimum minimize(const FitObjective& objective, const std::vector<double>& start, double step,
                               int evaluations);

}  // namespace orrery
