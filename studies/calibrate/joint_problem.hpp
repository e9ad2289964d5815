// Fits constants of many calibrations together: a calibration learns the common value of its heirs, and each
// heir deviates from it as the constant's `spread` says.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "studies/calibrate/fit_problem.hpp"

namespace orrery {

/// Gives the prior of a variable: the value that it inherits.
struct Prior {
  std::optional<std::size_t> parent;   ///< the variable of the calibration it inherits from
  std::optional<double> parent_value;  ///< that calibration's value where it is not fitted
  double spread = 0;                   ///< standard deviation of the logarithm of a value over its parent's

  /// A root lies anywhere.
  [[nodiscard]] bool is_root() const { return !parent && !parent_value; }
};

struct JointProblem {
  FitProblem fit;
  std::vector<Prior> heritage;  ///< as fit.variables
};

/// The variables are all constants of the rows' calibrations for which the calibration, or one it inherits
/// from, gives a `spread`; but not where it is `pinned`, nor where it is 0, since then the effect is absent.
/// A row takes the constants of the calibrations it names, and not those it sets itself.
/// @throws InputError for everything wrong in the tables and where they have no row to fit to.
[[nodiscard]] JointProblem make_joint_problem(const std::vector<TableText>& tables,
                                              const TableContext& context);

/// The calibration of `part` (software, gpu, node, fabric) that `experiment` takes its constants from; ""
/// where it names none.
[[nodiscard]] const std::string& calibration_of(const Experiment& experiment, std::string_view part);

}  // namespace orrery
