// Places the workers of a logical graph. Places are numbered 0 to n-1; the caller gives their distances.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "orrery/gossip_graph.hpp"

namespace orrery {

/// The most workers that place_near() takes.
inline constexpr std::uint32_t kMostPlaced = 2048;
/// Most workers times edges of all rounds, which a pass over all pairs visits: some seconds.
inline constexpr std::uint64_t kMostPlacedEdges = std::uint64_t{1} << 28;

/// Returns the distance of two places, which is symmetric.
using Distance = std::function<std::uint32_t(std::uint32_t, std::uint32_t)>;

/// Returns the place of each worker, so that the sum of distances over the edges of all rounds is small:
/// pairs of workers change places, from the order they have, as long as that helps. It is no worse than that
/// order.
[[nodiscard]] std::vector<std::uint32_t> place_near(const GossipGraph& graph, const Distance& distance);

/// Returns the same graph between places.
[[nodiscard]] GossipGraph placed(const GossipGraph& graph, const std::vector<std::uint32_t>& places);

}  // namespace orrery
