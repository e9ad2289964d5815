// Computes ||W_{r-1} ... W_0 - 11^T/n||_2 in two ways. Internal to topologies/gossip/ and its tests.
#pragma once

#include "orrery/gossip_graph.hpp"

namespace orrery {

/// Most workers for which the product is written out.
inline constexpr std::uint32_t kMaxDenseWorkers = 512;

/// Computes the distance with a full matrix, in n^3 operations.
[[nodiscard]] double dense_distance_to_average(const GossipGraph& graph);

/// Computes the distance by Lanczos iterations on the products with the sparse matrices; if a single sparse
/// matrix leaves them too many (long rings), on its factorised inverse next to 1.
/// @throws RunError if neither converges.
[[nodiscard]] double iterative_distance_to_average(const GossipGraph& graph);

}  // namespace orrery
