// Data parallelism: all ranks that hold the same weights, those that share sequences included. Where two
// copies of the model lie in a pipeline in opposite directions, rank r of p and rank p - 1 - r hold the same
// stages.
#include "workloads/parallel/kinds.hpp"

namespace orrery {
namespace {

constexpr std::array kReplicaStreams{Stream::data};

std::uint32_t replica_slots(const CommunicatorSpec& spec) {
  return spec.mirrored || spec.grid.size(Axis::context) * spec.grid.size(Axis::data) > 1 ? 1 : 0;
}

void form_replica_groups(const CommunicatorSpec& spec, std::uint32_t slot, GroupWriter& to) {
  if (spec.mirrored) return to.add_mirrored(spec.grid, {Axis::context, Axis::data}, slot);
  to.add_along(spec.grid, {Axis::context, Axis::data}, slot);
}

/// Other methods pair single replicas, and groups of ZeRO single ranks, which have one copy of the model.
void check_replicas(const Experiment& experiment, const Complain& complain) {
  if (experiment.plan.model_copies() == 1) return;
  const SyncMethod method = experiment.data_parallel_sync.method;
  if (method != SyncMethod::all_reduce)
    complain({"pipeline_schedule"},
             "found dualpipe with another data_parallel_sync.method than all-reduce, "
             "allowed all-reduce alone");
  if (experiment.plan.zero_group_size > 0)
    complain({"zero_group_size"}, "found a value with the schedule dualpipe, allowed none");
}

}  // namespace

constinit const CommunicatorKind kReplicaGroups{
    "data",        Dimension::data,     Slot::data, kReplicaStreams, false,
    replica_slots, form_replica_groups, nullptr,    check_replicas};

}  // namespace orrery
