// Prepares the runs of `converge`: experiments, their variations, and for each the learning and the simulated
// step.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "orrery/experiment.hpp"
#include "studies/converge/converge.hpp"

namespace orrery {

struct ConvergeArguments {
  std::vector<std::string> experiments;   ///< files
  std::vector<std::string> overrides;     ///< key=value, for all
  std::vector<std::string> variations;    ///< key=value,value: every combination is run
  std::vector<std::string> calibrations;  ///< files
  unsigned threads = 1;
};

/// One curve.
struct ConvergenceCurve {
  std::string label;
  Experiment experiment;
  double step_time_s = 0;  ///< mean of the simulated steps
  bool feasible = true;    ///< the simulated plan fits into memory
  ConvergenceRun run;

  [[nodiscard]] double time_s(const ConvergencePoint& point) const {
    return static_cast<double>(point.iteration) * step_time_s;
  }
};

/// Told how many curves are done, of how many.
using ConvergenceProgress = std::function<void(std::size_t done, std::size_t total)>;

/// A curve for each combination of values. Varied keys that do nothing beside the others are left out, and of
/// combinations that are alike then only the first is kept, as in compare().
/// @throws InputError as the reader, simulate() and converge().
[[nodiscard]] std::vector<ConvergenceCurve> run_convergence(const ConvergeArguments& arguments,
                                                            const ConvergenceProgress& progress = {});

}  // namespace orrery
