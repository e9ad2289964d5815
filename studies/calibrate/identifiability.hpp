// Measures how well the measured rows determine the constants fitted to them. Plain numbers.
#pragma once

#include <cstddef>
#include <vector>

namespace orrery {

/// Derivatives of the logarithm of each row's prediction by each constant: [row][constant], every constant
/// measured in a scale of its own.
using Sensitivity = std::vector<std::vector<double>>;

struct Determination {
  std::vector<double> standard_errors;  ///< by constant, in its scale; large where nothing determines it
  std::vector<double> singular_values;  ///< of the weighted sensitivity, falling
};

/// Two constants whose derivatives are nearly the same, or the same but for the sign, in all rows.
struct Leaning {
  std::size_t one = 0, other = 0;  ///< the second comes later
  double correlation = 0;          ///< of the columns, about 0: their cosine
};

/// Returns the pairs whose weighted columns have a cosine of 0.9 or more, the closest first: only both
/// together are known.
[[nodiscard]] std::vector<Leaning> leaning(const Sensitivity& sensitivity,
                                           const std::vector<double>& weights);

/// Standard errors of a least-squares fit that left `residuals`, with the weight of each row's square.
/// Residuals are taken to be no smaller than measured runs repeat.
[[nodiscard]] Determination determination(const Sensitivity& sensitivity,
                                          const std::vector<double>& residuals,
                                          const std::vector<double>& weights);

}  // namespace orrery
