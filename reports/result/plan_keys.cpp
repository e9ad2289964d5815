// Lists the plan's keys in the result: every key that has an effect, with the value in force.
#include <array>
#include <string>
#include <vector>

#include "reports/result/result_key.hpp"
#include "reports/summary/plan_lines.hpp"

namespace orrery {
namespace {

using Json = ResultJson;
using Needs = ResultKey::Needs;
using R = Report;

/// Absent where all stages, or replicas, have equally many.
Json listed(const std::vector<std::int64_t>& list) { return list.empty() ? absent() : Json(list); }

/// Absent where it does nothing.
Json where(bool works, Json value) { return works ? std::move(value) : absent(); }

/// Absent where requests are served in place of training.
Json trained(const R& r, Json value) { return where(!r.serving.has_value(), std::move(value)); }

bool has_experts(const R& r) { return r.active_parameters < r.parameters; }
bool has_contexts(const R& r) { return r.plan.context_parallel > 1; }
bool has_copies(const R& r) { return r.plan.weight_copies() > 1; }
bool shards(const R& r) { return r.plan.zero_stage > 0 && has_copies(r); }
bool shards_parameters(const R& r) { return r.plan.zero_stage == 3 && has_copies(r); }
bool is_piped(const R& r) { return r.plan.pipeline_parallel > 1; }
bool is_cut(const R& r) { return r.plan.tensor_parallel > 1; }

Json main_weights(const Plan& plan) {
  return plan.main_weight_precision ? name_of(kPrecisionNames, *plan.main_weight_precision) : Json("none");
}

Json partition(const Plan& plan) {
  if (plan.tensor_partition.empty()) return absent();
  Json list = Json::array();
  for (const MatrixPartition cut : plan.tensor_partition)
    list.push_back(cut == MatrixPartition::column ? "column" : "row");
  return list;
}

Json wire(const std::optional<Precision>& sent) { return sent ? name_of(kPrecisionNames, *sent) : absent(); }

Json algorithm(const Plan& plan, Collective collective) {
  return where(plan.gpus() > 1, plan.collectives[static_cast<std::size_t>(collective)]);
}

const ResultKey kKeys[] = {
    {"plan.tensor_parallel", [](const R& r) -> Json { return r.plan.tensor_parallel; }, Needs::origin},
    {"plan.pipeline_parallel", [](const R& r) -> Json { return r.plan.pipeline_parallel; }, Needs::origin},
    {"plan.data_parallel", [](const R& r) -> Json { return r.plan.data_parallel; }, Needs::origin},
    {"plan.context_parallel", [](const R& r) -> Json { return r.plan.context_parallel; }, Needs::origin},
    {"plan.context_parallel_type",
     [](const R& r) -> Json {
       return where(has_contexts(r), name_of(kContextParallelTypeNames, r.plan.context_parallel_type));
     },
     Needs::origin},
    {"plan.hierarchical_context_parallel_size",
     [](const R& r) -> Json {
       return where(r.plan.hierarchical_context_parallel_size > 0, r.plan.hierarchical_context_parallel_size);
     },
     Needs::origin},
    {"plan.expert_parallel", [](const R& r) -> Json { return where(has_experts(r), r.plan.expert_parallel); },
     Needs::origin},
    {"plan.expert_tensor_parallel",
     [](const R& r) -> Json { return where(has_experts(r), r.plan.expert_tensor_parallel); }, Needs::origin},
    {"plan.capacity_factor", [](const R& r) -> Json { return where(has_experts(r), r.plan.capacity_factor); },
     Needs::origin},
    {"plan.dispatcher",
     [](const R& r) -> Json { return where(has_experts(r), name_of(kDispatcherNames, r.plan.dispatcher)); },
     Needs::origin},
    {"plan.token_imbalance",
     [](const R& r) -> Json {
       return where(has_experts(r), name_of(kTokenImbalanceNames, r.plan.token_imbalance));
     },
     Needs::origin},
    {"plan.sequence_parallel", [](const R& r) -> Json { return r.plan.sequence_parallel; }, Needs::origin},
    {"plan.micro_batch_size", [](const R& r) -> Json { return trained(r, r.plan.micro_batch_size); },
     Needs::origin},
    {"plan.global_batch_size", [](const R& r) -> Json { return trained(r, r.plan.global_batch_size); },
     Needs::origin},
    {"plan.replica_batch_sizes",
     [](const R& r) -> Json { return trained(r, listed(r.plan.replica_batch_sizes)); }, Needs::origin},
    {"plan.pipeline_schedule", [](const R& r) -> Json { return trained(r, r.plan.pipeline_schedule); },
     Needs::origin},
    {"plan.virtual_stages", [](const R& r) -> Json { return trained(r, r.plan.virtual_stages); },
     Needs::origin},
    {"plan.micro_batch_group_size",
     [](const R& r) -> Json {
       return trained(r, where(r.plan.micro_batch_group_size > 0, r.plan.micro_batch_group_size));
     },
     Needs::origin},
    {"plan.warmup_micro_batches",
     [](const R& r) -> Json {
       return trained(r, where(r.plan.warmup_micro_batches > 0, r.plan.warmup_micro_batches));
     },
     Needs::origin},
    {"plan.stage_layers", [](const R& r) -> Json { return listed(r.plan.stage_layers); }, Needs::origin},
    {"plan.recompute",
     [](const R& r) -> Json { return trained(r, name_of(kRecomputeNames, r.plan.recompute)); },
     Needs::origin},
    {"plan.recompute_modules",
     [](const R& r) -> Json { return trained(r, names_of(r.plan.recompute_modules)); }, Needs::origin},
    {"plan.recompute_layers", [](const R& r) -> Json { return trained(r, r.plan.recompute_layers); },
     Needs::origin},
    {"plan.recompute_stage_layers",
     [](const R& r) -> Json { return trained(r, listed(r.plan.recompute_stage_layers)); }, Needs::origin},
    {"plan.recompute_method",
     [](const R& r) -> Json { return trained(r, name_of(kRecomputeMethodNames, r.plan.recompute_method)); },
     Needs::origin},
    {"plan.zero_stage", [](const R& r) -> Json { return trained(r, r.plan.zero_stage); }, Needs::origin},
    {"plan.zero_group_size",
     [](const R& r) -> Json {
       return trained(
           r, where(shards(r), r.plan.sharding_ranks() * r.plan.data_parallel / r.plan.weight_copies()));
     },
     Needs::origin},
    {"plan.gradient_reduction",
     [](const R& r) -> Json {
       return trained(r, kGradientReductionNames[r.plan.reduces_every_micro_batch() ? 1 : 0]);
     },
     Needs::origin},
    {"plan.gradient_bytes",
     [](const R& r) -> Json { return trained(r, where(has_copies(r), r.software.gradient_bytes)); },
     Needs::origin},
    {"plan.reshard_after_forward",
     [](const R& r) -> Json { return trained(r, where(shards_parameters(r), r.plan.reshard_after_forward)); },
     Needs::origin},
    {"plan.prefetch",
     [](const R& r) -> Json { return trained(r, where(shards_parameters(r), r.plan.units_ahead())); },
     Needs::origin},
    {"plan.fsdp_unit_layers",
     [](const R& r) -> Json { return trained(r, where(shards_parameters(r), r.plan.fsdp_unit_layers)); },
     Needs::origin},
    {"plan.overlap_gradient_reduce",
     [](const R& r) -> Json { return trained(r, where(has_copies(r), r.plan.overlap_gradient_reduce)); },
     Needs::origin},
    {"plan.overlap_parameter_gather",
     [](const R& r) -> Json { return trained(r, where(shards(r), gathers_ahead(r.plan))); }, Needs::origin},
    {"plan.overlap_tensor_parallel",
     [](const R& r) -> Json { return where(is_cut(r), r.plan.overlap_tensor_parallel); }, Needs::origin},
    {"plan.overlap_tensor_chunks",
     [](const R& r) -> Json { return where(is_cut(r), r.plan.overlap_tensor_chunks); }, Needs::origin},
    {"plan.tensor_overlap", [](const R& r) -> Json { return where(is_cut(r), r.tensor_overlap); },
     Needs::origin},
    {"plan.overlap_pipeline_parallel",
     [](const R& r) -> Json { return where(is_piped(r), overlaps_messages(r)); }, Needs::origin},
    {"plan.overlap_context_parallel",
     [](const R& r) -> Json { return where(has_contexts(r), overlaps_context(r.plan)); }, Needs::origin},
    {"plan.overlap_expert_parallel",
     [](const R& r) -> Json { return where(has_experts(r), r.plan.overlap_expert_parallel); }, Needs::origin},
    {"plan.overlap_shared_experts",
     [](const R& r) -> Json { return where(has_experts(r), r.plan.overlap_shared_experts); }, Needs::origin},
    {"plan.communication_interference",
     [](const R& r) -> Json { return where(r.plan.gpus() > 1, r.communication_interference); },
     Needs::origin},
    {"plan.scatter_gather",
     [](const R& r) -> Json { return where(is_piped(r) && is_cut(r), r.plan.scatter_gather); },
     Needs::origin},
    {"plan.bucket_mb", [](const R& r) -> Json { return trained(r, where(has_copies(r), r.plan.bucket_mb)); },
     Needs::origin},
    {"plan.rank_order", [](const R& r) -> Json { return r.plan.rank_order; }, Needs::origin},
    {"plan.precision", [](const R& r) -> Json { return name_of(kPrecisionNames, r.plan.precision); },
     Needs::origin},
    {"plan.optimizer",
     [](const R& r) -> Json { return trained(r, name_of(kOptimizerNames, r.plan.optimizer)); },
     Needs::origin},
    {"plan.moment_precision",
     [](const R& r) -> Json { return trained(r, name_of(kPrecisionNames, r.plan.moment_precision)); },
     Needs::origin},
    {"plan.main_weight_precision", [](const R& r) -> Json { return trained(r, main_weights(r.plan)); },
     Needs::origin},
    {"plan.loss_chunks", [](const R& r) -> Json { return trained(r, r.plan.loss_chunks); }, Needs::origin},
    {"plan.frozen_precision",
     [](const R& r) -> Json { return trained(r, name_of(kFrozenPrecisionNames, r.plan.frozen_precision)); },
     Needs::origin},
    {"plan.offload", [](const R& r) -> Json { return trained(r, name_of(kOffloadNames, r.plan.offload)); },
     Needs::origin},
    {"plan.offload_fraction",
     [](const R& r) -> Json {
       return trained(r, where(r.plan.offload != Offload::none, r.plan.offload_fraction));
     },
     Needs::origin},
    {"plan.tensor_partition", [](const R& r) -> Json { return partition(r.plan); }, Needs::origin},
    {"plan.collectives.all-reduce",
     [](const R& r) -> Json { return algorithm(r.plan, Collective::all_reduce); }, Needs::origin},
    {"plan.collectives.all-gather",
     [](const R& r) -> Json { return algorithm(r.plan, Collective::all_gather); }, Needs::origin},
    {"plan.collectives.reduce-scatter",
     [](const R& r) -> Json { return algorithm(r.plan, Collective::reduce_scatter); }, Needs::origin},
    {"plan.collectives.broadcast",
     [](const R& r) -> Json { return algorithm(r.plan, Collective::broadcast); }, Needs::origin},
    {"plan.collectives.all-to-all",
     [](const R& r) -> Json { return algorithm(r.plan, Collective::all_to_all); }, Needs::origin},
    {"plan.collectives.send-recv",
     [](const R& r) -> Json { return algorithm(r.plan, Collective::send_recv); }, Needs::origin},
    {"plan.wire_precision.tensor_gather",
     [](const R& r) -> Json { return wire(r.plan.wire_precision.tensor_gather); }, Needs::origin},
    {"plan.wire_precision.tensor_reduce",
     [](const R& r) -> Json { return wire(r.plan.wire_precision.tensor_reduce); }, Needs::origin},
    {"plan.wire_precision.pipeline", [](const R& r) -> Json { return wire(r.plan.wire_precision.pipeline); },
     Needs::origin},
    {"plan.wire_precision.context", [](const R& r) -> Json { return wire(r.plan.wire_precision.context); },
     Needs::origin},
    {"plan.wire_precision.dispatch", [](const R& r) -> Json { return wire(r.plan.wire_precision.dispatch); },
     Needs::origin},
    {"plan.wire_precision.combine", [](const R& r) -> Json { return wire(r.plan.wire_precision.combine); },
     Needs::origin},
    {"plan.wire_precision.data", [](const R& r) -> Json { return wire(r.plan.wire_precision.data); },
     Needs::origin},
    {"plan.wire_precision.parameters",
     [](const R& r) -> Json { return wire(r.plan.wire_precision.parameters); }, Needs::origin},
    {"plan.wire_precision.models", [](const R& r) -> Json { return wire(r.plan.wire_precision.models); },
     Needs::origin},
};

}  // namespace

std::span<const ResultKey> plan_keys() { return kKeys; }

}  // namespace orrery
