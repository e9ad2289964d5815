// Computes the least-squares fit of a joint problem, and its predictions for rows it has not seen.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "studies/calibrate/identifiability.hpp"
#include "studies/calibrate/joint_problem.hpp"

namespace orrery {

/// Called as simulations of all rows are done; `expected` may shrink.
using JointProgress = std::function<void(const std::string& phase, int done, int expected)>;

struct JointFit {
  std::vector<double> values;           ///< by variable
  std::vector<double> standard_errors;  ///< of their logarithms
  std::vector<Leaning> leaning;         ///< pairs of variables that move the rows alike
  std::vector<double> base_ratios;      ///< predicted over measured by row, with the values at the start
  std::vector<double> ratios;           ///< with the fitted ones
  double base_loss = 0;
  double loss = 0;
  int rounds = 0;
};

/// Starts at the values of the catalog, within their bounds, and fits by Gauss-Newton steps on robust
/// residuals and the spreads, until a round gains less than a thousandth. The result is the same for every
/// number of threads. @throws InputError for a row that cannot be simulated.
[[nodiscard]] JointFit fit_jointly(const JointProblem& problem, unsigned threads,
                                   const JointProgress& progress = {});

/// Names the property by which rows are grouped and left out.
enum class LeftOut : std::uint8_t { model, stack, gpu, fabric };
inline constexpr std::array<std::string_view, 4> kLeftOutNames{"model", "stack", "gpu", "fabric"};
inline const std::vector<LeftOut> kAllLeftOut{LeftOut::model, LeftOut::stack, LeftOut::gpu, LeftOut::fabric};

/// The group of each row: its table and model; the calibration of its stack or GPU; that of its fabric, of
/// rows on several nodes.
[[nodiscard]] std::vector<std::string> groups_of(const JointProblem& problem, LeftOut by);

/// Returns predicted over measured by row, for each of `by`, by a fit that has seen no row of its group. Each
/// fit is one step from the values of the catalog, which are a fit to all rows, on the rows of the other
/// groups; the rows left out are simulated with its result. A row whose group is "" is always seen and has
/// the ratio 0.
[[nodiscard]] std::vector<std::vector<double>> leave_out(const JointProblem& problem,
                                                         const std::vector<LeftOut>& by, unsigned threads,
                                                         const JointProgress& progress = {});

/// Writes constants and errors by stack and by table as tables for a terminal.
void write_joint_text(const JointProblem& problem, const JointFit& fit,
                      const std::function<void(std::string_view)>& sink);

}  // namespace orrery
