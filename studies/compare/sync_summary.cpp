#include "studies/compare/sync_summary.hpp"

#include "sim/step/replica_graph.hpp"
#include "sim/step/replica_wire.hpp"

namespace orrery {
namespace {

std::string topology_of(const Experiment& experiment) {
  const DataParallelSync& sync = experiment.data_parallel_sync;
  if (sync.gossips()) return sync.neighbours.empty() ? sync.topology : "explicit";
  if (sync.method == SyncMethod::none) return "-";
  const bool servers = sync.method == SyncMethod::parameter_server || sync.method == SyncMethod::easgd ||
                       sync.method == SyncMethod::async_diloco;
  if (servers) return "star";
  return experiment.plan.collectives[static_cast<std::size_t>(Collective::all_reduce)];
}

}  // namespace

SyncSummary summary_of(const Experiment& experiment) {
  const DataParallelSync& sync = experiment.data_parallel_sync;
  SyncSummary summary;
  summary.method = kSyncMethodNames[static_cast<std::size_t>(sync.method)];
  summary.topology = topology_of(experiment);
  summary.workers = sync_workers(experiment).workers;
  const ReplicaWire wire = replica_wire(experiment);
  if (wire.values == ReplicaWire::Values::none) return summary;
  summary.models = wire.values == ReplicaWire::Values::models;
  summary.overlaps = overlaps_replicas(experiment);
  summary.in_step = !sync.asynchronous();
  summary.compressed = sync.compression.method != Compression::Method::none;
  summary.wire =
      summary.compressed ? "compressed" : kPrecisionNames[static_cast<std::size_t>(wire.precision)];
  return summary;
}

}  // namespace orrery
