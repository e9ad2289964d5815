// Fits constants of calibrations to measured runs, tells how well the fit predicts runs it has not seen, and
// how well the runs determine each constant.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "studies/calibrate/fit_problem.hpp"
#include "studies/calibrate/identifiability.hpp"

namespace orrery {

struct FitOptions {
  unsigned folds = 5;  ///< of the cross-validation; below 2: none
  std::uint64_t seed = 0;
  int evaluations = 0;  ///< at most, per start; 0: by the number of constants
  unsigned starts = 1;  ///< the first at the base's values, the others at random
  unsigned threads = 1;
};

struct FittedConstant {
  FitVariable variable;
  double value = 0;
  double standard_error = 0;  ///< relative to the variable's scale
  double largest_effect = 0;  ///< on one row's prediction, of a change by a tenth of the scale
  bool identifiable = false;
};

/// predicted / measured of one row.
struct FittedRow {
  double base = 0;
  double fitted = 0;
  std::optional<double> held_out;  ///< by a fit that has not seen the row
};

struct Fit {
  FitProblem problem;
  FitOptions options;                     ///< as used: folds no more than rows
  std::vector<FittedConstant> constants;  ///< as problem.variables
  std::vector<FittedRow> rows;            ///< as problem.rows
  std::vector<double> singular_values;
  std::vector<Leaning> leaning;  ///< pairs of constants that move the rows alike
  int evaluations = 0;           ///< of the fit to all rows
  double base_loss = 0;
  double loss = 0;
};

/// Called as evaluations are done.
using FitProgress = std::function<void(const std::string& phase, int evaluations, double loss)>;

/// Fits the constants; the result is the same for every number of threads. @throws InputError for a row that
/// cannot be simulated.
[[nodiscard]] Fit calibrate(const FitProblem& problem, const FitOptions& options,
                            const FitProgress& progress = {});

}  // namespace orrery
