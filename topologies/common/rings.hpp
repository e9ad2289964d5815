// Cuts closed tours of a node's GPUs open into rings that continue on other nodes.
#pragma once

#include <cstdint>
#include <vector>

namespace orrery {

/// Repeats the tours as often as it takes for every member to start equally many rings, but to no more
/// than 32 rings (as many as NCCL has channels) or one per member; then cuts each where fewest rings
/// start, of those where fewest end, of those at the first in `members`.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> cut_tours(
    const std::vector<std::vector<std::uint32_t>>& tours, const std::vector<std::uint32_t>& members);

}  // namespace orrery
