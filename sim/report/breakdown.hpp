// Where the time of each GPU goes: compute, exposed communication, bubble. One part of build_report.
#pragma once

#include "orrery/report.hpp"
#include "sim/report/build_report.hpp"

namespace orrery {

struct Exposure {
  Breakdown breakdown;
  /// Bubble over compute, launch gaps and exposed tensor, context and expert time of the passes.
  /// Optimizer and data-parallel time are on neither side.
  double pipeline_bubble_fraction = 0;
  double gpu_utilization_mean = 0;
  double gpu_utilization_min = 0;
};

[[nodiscard]] Exposure measure_exposure(const RunView& run);

}  // namespace orrery
