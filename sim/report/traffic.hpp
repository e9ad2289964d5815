// Bytes that GPUs send and links carry. One part of build_report; the trace writer uses it too.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "orrery/report.hpp"
#include "orrery/workload.hpp"
#include "sim/report/build_report.hpp"

namespace orrery {

/// Bytes one of `members` ranks sends in a communication: 2(n-1)/n * M for all_reduce, (n-1)/n * M
/// for the other collectives (for broadcast the mean over members), M for the sender of send_recv.
/// `first`: the rank is the group's first member. Ring and direct algorithms move just this much.
[[nodiscard]] double bytes_sent(const Message& message, std::size_t members, bool first);

/// Bytes a GPU sends per step by Dimension in the operations of a part, mean over GPUs. Independent of
/// folding.
[[nodiscard]] std::array<double, kDimensionCount> bytes_per_gpu(const Workload& workload,
                                                                const RunPart& part);

/// Utilisation by kind of link, from the bytes each carries: for the kinds the topology has, in the
/// order of LinkKind. Independent of folding, but for the makespan.
[[nodiscard]] std::vector<LinkUtilization> link_utilization(const Topology& topology,
                                                            std::span<const double> link_bytes,
                                                            Picoseconds makespan);

}  // namespace orrery
