#include "comparison/sync_summary.hpp"

#include <algorithm>

#include "orrery/rank_layout.hpp"

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

std::int64_t replicas_per_node(const Experiment& experiment) {
  const RankLayout layout(experiment.plan);
  std::int64_t count = 1;  // replica 0 begins in node 0
  while (count < experiment.plan.data_parallel &&
         layout.rank({0, 0, count}) < experiment.cluster.gpus_per_node) {
    ++count;
  }
  return count;
}

std::int64_t replicas_per_worker(const Experiment& experiment) {
  return experiment.data_parallel_sync.level == SyncLevel::node ? replicas_per_node(experiment) : 1;
}

SyncSummary summary_of(const Experiment& experiment) {
  const auto method = static_cast<std::size_t>(experiment.data_parallel_sync.method);
  const std::int64_t replicas = experiment.plan.data_parallel;
  const std::int64_t each = replicas_per_worker(experiment);
  return {std::string(kSyncMethodNames[method]), topology_of(experiment), (replicas + each - 1) / each};
}

}  // namespace orrery
