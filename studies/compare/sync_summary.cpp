#include "studies/compare/sync_summary.hpp"

#include "sim/run/replica_graph.hpp"

namespace orrery {
namespace {

std::string topology_of(const Experiment& experiment) {
  const DataParallelSync& sync = experiment.data_parallel_sync;
  if (sync.gossips()) return sync.neighbours.empty() ? sync.topology : "explicit";
  if (sync.method == SyncMethod::none) return "-";
  if (sync.method == SyncMethod::parameter_server) return "star";
  return experiment.plan.collectives[static_cast<std::size_t>(Collective::all_reduce)];
}

}  // namespace

SyncSummary summary_of(const Experiment& experiment) {
  const auto method = static_cast<std::size_t>(experiment.data_parallel_sync.method);
  return {std::string(kSyncMethodNames[method]), topology_of(experiment), sync_workers(experiment).workers};
}

}  // namespace orrery
