#include "sim/step/replica_wire.hpp"

#include <fmt/format.h>

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

std::string_view name_of(Precision precision) { return kPrecisionNames[static_cast<std::size_t>(precision)]; }

/// Says that uncompressed models travel in another precision than gradients would, which no framework does by
/// default; "" otherwise.
std::string other_width(const Experiment& experiment) {
  const Precision models = replica_wire(experiment).precision;
  const Precision gradients = of_gradients(experiment);
  if (experiment.data_parallel_sync.compression.method != Compression::Method::none) return "";
  if (models == gradients) return "";
  return fmt::format("models travel in {}, gradients would in {} (plan.wire_precision.models)",
                     name_of(models), name_of(gradients));
}

std::string other_overlap(const Experiment& experiment) {
  const bool models = overlaps_replicas(experiment);
  const bool gradients = experiment.plan.overlap_gradient_reduce;
  if (models == gradients || experiment.data_parallel_sync.asynchronous()) return "";
  if (models)
    return "models travel beside computing, gradients would after it (plan.overlap_gradient_reduce)";
  const bool can = has_key(experiment.data_parallel_sync.method, "overlap");
  return fmt::format("models travel after the step, gradients would beside the backward pass ({})",
                     can ? "data_parallel_sync.overlap" : "plan.overlap_gradient_reduce");
}

}  // namespace

ReplicaWire replica_wire(const Experiment& experiment) {
  using Values = ReplicaWire::Values;
  const Travels travels = sync_method(experiment.data_parallel_sync.method).travels;
  if (travels == Travels::nothing || experiment.plan.data_parallel < 2) return {};
  if (travels == Travels::gradients) return {Values::gradients, of_gradients(experiment)};
  return {Values::models, experiment.plan.wire_precision.models.value_or(Precision::fp32)};
}

bool overlaps_replicas(const Experiment& experiment) {
  const DataParallelSync& sync = experiment.data_parallel_sync;
  if (sync_method(sync.method).travels == Travels::gradients) return experiment.plan.overlap_gradient_reduce;
  return has_key(sync.method, "overlap") && sync.overlap != SyncOverlap::none;
}

std::string unlike_all_reduce(const Experiment& experiment) {
  if (replica_wire(experiment).values != ReplicaWire::Values::models) return "";
  const std::string width = other_width(experiment);
  const std::string overlap = other_overlap(experiment);
  if (width.empty() && overlap.empty()) return "";
  return fmt::format("not like for like with all-reduce: {}{}{}", width,
                     width.empty() || overlap.empty() ? "" : "; ", overlap);
}

}  // namespace orrery
