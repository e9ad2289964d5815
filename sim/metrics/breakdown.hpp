// Where the time of each GPU goes: compute, exposed communication, bubble. One part of build_report.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "orrery/report.hpp"
#include "sim/metrics/build_report.hpp"

namespace orrery {

/// Per class of ranks, over the whole run and over a part of it.
struct Exposures {
  std::vector<ClassTimes> whole;
  std::vector<ClassTimes> part;
};
[[nodiscard]] Exposures measure_exposure(const RunView& run, const RunPart& part);

struct Exposure {
  Breakdown breakdown;
  /// Bubble over compute, launch gaps and exposed tensor, context and expert time of the passes.
  /// Optimizer and data-parallel time are on neither side.
  double pipeline_bubble_fraction = 0;
  double gpu_utilization_mean = 0;
  double gpu_utilization_min = 0;
};

/// Sums over classes, each weighted with the ranks it stands for.
[[nodiscard]] Exposure sum_up(std::span<const ClassTimes> classes,
                              std::span<const std::uint32_t> multiplicity, Picoseconds makespan);

}  // namespace orrery
