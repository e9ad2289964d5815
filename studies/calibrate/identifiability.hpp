// Measures how well the measured rows determine the constants fitted to them. Plain numbers.
#pragma once

#include <vector>

namespace orrery {

/// Derivatives of the logarithm of each row's prediction by each constant: [row][constant], every constant
/// measured in a scale of its own.
using Sensitivity = std::vector<std::vector<double>>;

struct Determination {
  std::vector<double> standard_errors;  ///< by constant, in its scale; large where nothing determines it
  std::vector<double> singular_values;  ///< of the weighted sensitivity, falling
};

/// Standard errors of a least-squares fit that left `residuals`, with the weight of each row's square.
/// Residuals are taken to be no smaller than measured runs repeat.
[[nodiscard]] Determination determination(const Sensitivity& sensitivity,
                                          const std::vector<double>& residuals,
                                          const std::vector<double>& weights);

}  // namespace orrery
