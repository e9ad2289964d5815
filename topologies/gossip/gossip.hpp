// Logical graphs for gossip: one builder per file, `gossip_topologies()` is the menu. A graph says who
// averages with whom and with which weights; it knows nothing of GPUs and links.
#pragma once

#include <cstdint>
#include <span>

#include "orrery/data_parallel_sync.hpp"
#include "orrery/gossip_graph.hpp"
#include "orrery/menu.hpp"

namespace orrery {

/// What a graph is built for.
struct GossipSize {
  std::uint32_t workers = 1;
  std::uint32_t workers_per_node = 1;  ///< neighbours in number share a node; for inner-outer topologies
  std::uint32_t random_rounds = 1;     ///< rounds drawn of topologies that are random anew in each step
  std::int64_t seed = 0;
};

/// The graph that `sync` names, checked: rows add up to 1, columns too unless the method is push-sum, and
/// every worker reaches every other over the rounds.
/// @throws InputError at /data_parallel_sync/topology, /weights, /shape, ... if there is no such graph.
[[nodiscard]] GossipGraph build_gossip_graph(const DataParallelSync& sync, const GossipSize& size);

}  // namespace orrery
