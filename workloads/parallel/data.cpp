// Forms data parallelism: all ranks that hold the same weights, those that share sequences included. Where
// two copies of the model lie in a pipeline in opposite directions, rank r of p and rank p - 1 - r hold the
// same stages.
#include <string>

#include "workloads/communicators/batch_classes.hpp"
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

/// Replicas with unequal batches meet once per step, after their last micro-batches.
void check_batches(const Experiment& e, const ReportProblem& complain) {
  const Plan& plan = e.plan;
  if (batch_classes(plan).samples.size() < 2 && !plan.balance_replica_batches) return;
  const auto refuse = [&](const std::string& what, const std::string& allowed) {
    complain({"replica_batch_sizes"}, "found unequal batches with " + what + ", allowed " + allowed);
  };
  if (plan.zero_stage > 1)
    refuse("zero_stage " + std::to_string(plan.zero_stage),
           "zero_stage 0 or 1: replicas meet in each micro-batch");
  if (plan.zero_stage <= 1 && plan.reduces_every_micro_batch())
    refuse("gradient_reduction \"every-micro-batch\"", "every-step");
  if (plan.zero_group_size > 0) refuse("zero_group_size", "none");
  if (plan.model_copies() > 1) refuse("the schedule dualpipe", "another one");
  if (e.data_parallel_sync.method != SyncMethod::all_reduce || e.data_parallel_sync.joins_replicas())
    refuse("another data_parallel_sync than an all-reduce of all GPUs", "that alone");
  const bool apart = plan.expert_parallel == 1 && plan.expert_tensor_parallel == plan.tensor_parallel;
  if (e.model.experts > 0 && !apart)
    refuse("experts shared by replicas", "expert_parallel 1 and expert_tensor_parallel as tensor_parallel");
}

/// Other methods pair single replicas, and groups of ZeRO single ranks, which have one copy of the model.
void check_replicas(const Experiment& experiment, const ReportProblem& complain) {
  check_batches(experiment, complain);
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
