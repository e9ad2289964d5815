// Builds the graph that the replicas of an experiment gossip on, and places its workers.
#pragma once

#include "orrery/experiment.hpp"
#include "orrery/gossip_graph.hpp"
#include "orrery/topology.hpp"
#include "sim/step/memo.hpp"
#include "workloads/communicators/communicator_layout.hpp"

namespace orrery {

/// Empty where the method has no graph, or there is one worker.
/// @throws InputError at /data_parallel_sync/... if there is no such graph.
[[nodiscard]] GossipGraph replica_graph(const Experiment& experiment);
/// Returns the graph between placements: worker w of the result sits on replica (or node) w of `topology`.
[[nodiscard]] GossipGraph placed_replica_graph(const Experiment& experiment, const Topology& topology);

/// Returns the communicators that synchronise replicas; graphs that take long to build and colour are cached.
[[nodiscard]] CommunicatorLayout communicator_layout_of(const Experiment& experiment, Memo& memo);

}  // namespace orrery
