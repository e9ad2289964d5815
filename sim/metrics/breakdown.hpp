// Splits the time of each GPU: compute, exposed communication, bubble. One part of build_report.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "orrery/report.hpp"
#include "sim/metrics/build_report.hpp"

namespace orrery {

/// Holds times per class of ranks, over the whole run and over a part of it.
struct Exposures {
  std::vector<ClassTimes> whole;
  std::vector<ClassTimes> part;
};
[[nodiscard]] Exposures measure_exposure(const RunView& run, const RunPart& part);

/// Names the causes for which an idle compute stream waits, as in Breakdown: the communication of a
/// dimension, the host, or a bubble in which nothing is in flight.
enum class WaitCause : std::uint8_t { tensor, pipeline, data, context, expert, offload, host, bubble };
struct Wait {
  Picoseconds start_ps = 0;
  Picoseconds finish_ps = 0;
  WaitCause cause{};
};
/// Returns the times between the operations on the compute stream of a class of ranks, in order. With the
/// times and waits of its operations (launch gaps, the collectives of a fused pass) they add up to its
/// ClassTimes.
[[nodiscard]] std::vector<Wait> waits_of(const RunView& run, std::uint32_t rank_class);

struct Exposure {
  Breakdown breakdown;
  std::optional<KernelTimes> kernels_ps;  ///< where all classes have them
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
