// Builds logical graphs for gossip: one family per file, `gossip_topologies()` is the menu. A graph says
// which workers average with each other and with which weights; it knows nothing of GPUs and links.
#pragma once

#include <cstdint>
#include <span>

#include "orrery/data_parallel_sync.hpp"
#include "orrery/gossip_graph.hpp"
#include "orrery/menu.hpp"

namespace orrery {

/// Holds the size that a graph is built for.
struct GossipSize {
  std::uint32_t workers = 1;
  std::uint32_t workers_per_node = 1;  ///< neighbours in number share a node; for inner-outer topologies
  std::uint32_t random_rounds = 1;     ///< rounds drawn of topologies that are random anew in each step
  std::int64_t seed = 0;
};

struct Wiring;

/// Describes one topology; `wire` returns the workers that each worker receives from, per round.
struct GossipTopologyEntry : MenuEntry {
  Wiring (*wire)(const DataParallelSync&, const GossipSize&);
};

[[nodiscard]] std::span<const GossipTopologyEntry> gossip_topologies();

/// Most edges of a graph over all its rounds.
inline constexpr std::int64_t kMaxGossipEdges = std::int64_t{1} << 26;

/// The graph that `sync` names, or that its neighbour lists make, checked: rows add up to 1, columns too
/// unless the method is push-sum, and every worker reaches every other over the rounds (random matchings,
/// which do so over more rounds than are drawn, aside). With push-sum, `uniform` and `automatic` weights
/// are those of the sender: it splits its values equally over itself and the workers it sends to. Workers
/// list their neighbours in one order: where the graph is made of shifts, position p is the same shift for
/// all.
/// @throws InputError at /data_parallel_sync/topology, /weights, /shape, ... if there is no such graph.
[[nodiscard]] GossipGraph build_gossip_graph(const DataParallelSync& sync, const GossipSize& size);

}  // namespace orrery
