// Finds the range of a predicted step time: how far off the calibration was on runs it had not seen, of the
// kind that the experiment is.
#pragma once

#include <string>
#include <vector>

#include "orrery/calibration_domain.hpp"
#include "orrery/experiment.hpp"

namespace orrery {

struct StepTimeRange {
  /// Deciles of measured over predicted less one; both 0: nothing measured supports a range.
  double p10 = 0;
  double p90 = 0;
  /// Features outside the measured runs, such as "GPU T4 (measured: H100, H200)".
  std::vector<std::string> outside;
  bool none_near = false;  ///< no run of any stack is like it: there is no range
};

/// Inside the domain of the stack the range has the stack's own deciles. Outside, it is the widest of those
/// of the stack and of stacks, GPUs and links that a fit had not seen. Outside the runs of any stack there is
/// none.
[[nodiscard]] StepTimeRange step_time_range(const Experiment& experiment);

/// Returns why a step time has no range or that of other kinds of runs; "" if it has that of its stack.
[[nodiscard]] std::string range_sentence(const StepTimeRange& range, const std::string& stack);

}  // namespace orrery
