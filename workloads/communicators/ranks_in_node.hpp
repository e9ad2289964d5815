// Which ranks of a group share a node.
#pragma once

#include <cstdint>

#include "orrery/cluster.hpp"
#include "orrery/rank_grid.hpp"

namespace orrery {

/// Of the ranks along an axis, how many lie in a node (or in an NVLink domain), side by side; 0 where that is
/// not the same everywhere.
[[nodiscard]] std::int64_t ranks_in_node(const RankGrid& grid, Axis axis, const Cluster& cluster);

}  // namespace orrery
