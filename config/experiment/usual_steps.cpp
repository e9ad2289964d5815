#include <algorithm>

#include "config/experiment/read_parts.hpp"
#include "topologies/gossip/gossip.hpp"
#include "workloads/communicators/communicator_layout.hpp"
#include "workloads/sync/sync_method.hpp"

namespace orrery {
namespace {

/// Rounds of a topology that is drawn anew in each step.
constexpr std::uint32_t kRoundsOfRandomGraph = 16;

std::int64_t rounds_of(const Experiment& experiment) {
  if (!experiment.data_parallel_sync.gossips()) return 1;
  const SyncWorkers workers = sync_workers(experiment);
  if (workers.workers < 2) return 1;
  const GossipGraph graph = build_gossip_graph(
      experiment.data_parallel_sync,
      {workers.workers, workers.workers_per_node, kRoundsOfRandomGraph, experiment.simulation.seed});
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(graph.rounds.size()));
}

}  // namespace

std::int64_t usual_steps(const Experiment& experiment) {
  if (experiment.plan.data_parallel == 1) return 1;
  return sync_cycle(experiment.data_parallel_sync, rounds_of(experiment));
}

}  // namespace orrery
