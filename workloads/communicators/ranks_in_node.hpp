// Counts the ranks of a group that share a node.
#pragma once

#include <cstdint>

#include "orrery/cluster.hpp"
#include "orrery/rank_grid.hpp"

namespace orrery {

/// Returns how many ranks along an axis lie side by side in a node (or NVLink domain); 0 if that number
/// differs between nodes.
[[nodiscard]] std::int64_t ranks_in_node(const RankGrid& grid, Axis axis, const Cluster& cluster);

}  // namespace orrery
