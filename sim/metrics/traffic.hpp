// Sums the bytes of a run per GPU and link, as a part of build_report.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "orrery/report.hpp"
#include "orrery/workload.hpp"
#include "sim/cost/traffic.hpp"

namespace orrery {

/// Bytes a GPU sends per step, by Dimension, mean over GPUs.
[[nodiscard]] std::array<double, kDimensionCount> bytes_per_gpu(const Traffic& traffic, std::uint32_t gpus,
                                                                std::int64_t steps);

/// Utilisation by kind of link: for the kinds the topology has, in the order of LinkKind. Independent of
/// folding, but for the makespan.
[[nodiscard]] std::vector<LinkUtilization> link_utilization(std::span<const LinkTraffic> traffic,
                                                            Picoseconds makespan);

}  // namespace orrery
