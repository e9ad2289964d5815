#include "sim/run/replica_wire.hpp"

#include "workloads/programs/stages.hpp"
#include "workloads/sync/sync_method.hpp"

namespace orrery {
namespace {

Precision of_gradients(const Experiment& experiment) {
  const Plan& plan = experiment.plan;
  if (plan.wire_precision.data) return *plan.wire_precision.data;
  if (gradient_bytes(experiment) > 2) return Precision::fp32;
  return plan.precision == Precision::fp16 ? Precision::fp16 : Precision::bf16;
}

}  // namespace

ReplicaWire replica_wire(const Experiment& experiment) {
  using Values = ReplicaWire::Values;
  const Travels travels = sync_method(experiment.data_parallel_sync.method).travels;
  if (travels == Travels::nothing || experiment.plan.data_parallel < 2) return {};
  if (travels == Travels::gradients) return {Values::gradients, of_gradients(experiment)};
  return {Values::models, experiment.plan.wire_precision.models.value_or(Precision::fp32)};
}

}  // namespace orrery
