// Exports to Megatron-LM: a shell script with the arguments of pretrain_gpt.py. Names as in
// megatron/training/arguments.py of Megatron Core 0.12 to 0.14 (github NVIDIA/Megatron-LM); arguments that
// its CHANGELOG.md dates later than 0.12 are marked.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/emit/export_report.hpp"

namespace orrery {
namespace megatron_arguments {
namespace {

constexpr std::string_view kCudaConnections = "before Blackwell with CUDA_DEVICE_MAX_CONNECTIONS=1";

void context_type(const Subject& s, const EmitJson&, Entry& out) {
  constexpr std::array<std::string_view, 4> kNames{"p2p", "a2a", "a2a+p2p", "all_gather"};
  if (!s.shares_sequences()) return out.idle();
  out.set("--cp-comm-type", kNames[static_cast<std::size_t>(s.plan.context_parallel_type)]);
  if (s.plan.context_parallel_type == ContextParallelType::hierarchical) {
    const std::int64_t inner = s.plan.hierarchical_context_parallel_size;
    out.set("--hierarchical-context-parallel-sizes",
            EmitJson::array({inner, s.plan.context_parallel / inner}));
  }
}

void hierarchical_size(const Subject&, const EmitJson&, Entry& out) {
  out.usual("stands in hierarchical-context-parallel-sizes");
}

/// The value where the model has experts.
template <const auto& Argument>
void of_experts(const Subject& s, const EmitJson& value, Entry& out) {
  if (!s.has_experts()) return out.idle();
  if (value == false) return out.usual();
  out.set(Argument, value);
}
constexpr char kExpertParallel[] = "--expert-model-parallel-size";
constexpr char kExpertTensorParallel[] = "--expert-tensor-parallel-size";
constexpr char kOverlapExperts[] = "--overlap-moe-expert-parallel-comm";
constexpr char kOverlapShared[] = "--moe-shared-expert-overlap";

void dispatcher(const Subject& s, const EmitJson&, Entry& out) {
  if (!s.has_experts()) return out.idle();
  if (s.plan.dispatcher == Dispatcher::hierarchical)
    return out.lacks(
        "tokens go straight to their experts (alltoall) or once to each node (flex with DeepEP)");
  const bool once = s.plan.dispatcher == Dispatcher::deduplicated;
  out.set("--moe-token-dispatcher-type", once ? "flex" : "alltoall");
  if (once) out.raise("--moe-enable-deepep");
}

void capacity(const Subject& s, const EmitJson& value, Entry& out) {
  if (!s.has_experts()) return out.idle();
  if (s.plan.capacity_factor == 0) return out.usual("no token is dropped");
  out.set("--moe-expert-capacity-factor", value);
  out.raise("--moe-pad-expert-input-to-capacity");
}

void schedule(const Subject& s, const EmitJson& value, Entry& out) {
  if (!s.pipelined()) return out.idle();
  if (value == "1f1b" || value == "interleaved-1f1b") return out.usual("interleaved with virtual stages");
  out.lacks("the pipeline schedule is 1F1B, interleaved with virtual stages");
}

/// Returns the layers of the first stage and of the last, if all others have equally many of the rest.
std::optional<std::pair<std::int64_t, std::int64_t>> ends(const std::vector<std::int64_t>& layers) {
  if (layers.size() < 3) return std::nullopt;
  const bool even =
      std::ranges::all_of(layers.begin() + 1, layers.end() - 1, [&](auto n) { return n == layers[1]; });
  return even ? std::optional(std::pair(layers.front(), layers.back())) : std::nullopt;
}

/// "Et*6|t*8|t*6L": embedding, layers and loss of each (virtual) stage.
std::string layout(const std::vector<std::int64_t>& layers) {
  std::string text = "E";
  for (std::size_t i = 0; i < layers.size(); ++i)
    text += (i > 0 ? "|" : "") + (layers[i] > 0 ? fmt::format("t*{}", layers[i]) : "");
  return text + "L";
}

/// Returns the reason for which Megatron-Core would stop (core/pipeline_parallel/schedules.py), or "".
/// Interleaving asks for pipeline ranks <= group <= micro-batches, and for a last group that is empty or has
/// at least as many micro-batches as ranks.
std::string stops_at(const Subject& s) {
  const std::int64_t ranks = s.plan.pipeline_parallel;
  if (s.plan.virtual_stages == 1 || ranks == 1) return "";
  const std::int64_t group = s.plan.micro_batch_group_size > 0 ? s.plan.micro_batch_group_size : ranks;
  const std::int64_t all = s.plan.micro_batches();
  const std::int64_t last = all % group;
  if (ranks <= group && group <= all && (last == 0 || last >= ranks)) return "";
  return fmt::format(
      "Megatron-Core stops here: found {} micro-batches in groups of {}, allowed a multiple of the group, "
      "and "
      "groups of {} at least",
      all, group, ranks);
}

void note_stop(const Subject& s, Entry& out) {
  if (const std::string why = stops_at(s); !why.empty()) out.note(why);
}

void virtual_stages(const Subject& s, const EmitJson&, Entry& out) {
  if (s.plan.virtual_stages == 1 || !s.plan.stage_layers.empty()) return out.idle();
  const std::int64_t stages = s.plan.pipeline_parallel * s.plan.virtual_stages;
  out.set("--num-layers-per-virtual-pipeline-stage", s.model.layers / stages);
  note_stop(s, out);
}

void stage_layers(const Subject& s, const EmitJson& value, Entry& out) {
  if (!value.is_array())
    return out.lacks("the simulator chooses the layers of stages: simulate, and emit what it chose");
  if (const auto known = ends(s.plan.stage_layers); known && s.plan.virtual_stages == 1) {
    out.set("--decoder-first-pipeline-num-layers", known->first);
    return out.set("--decoder-last-pipeline-num-layers", known->second);
  }
  out.set("--pipeline-model-parallel-layout", layout(s.plan.stage_layers));
  out.note("since core 0.13");
  note_stop(s, out);
}

void zero_stage(const Subject& s, const EmitJson&, Entry& out) {
  if (s.plan.zero_stage == 0) return out.usual();
  if (s.plan.zero_stage == 1) return out.raise("--use-distributed-optimizer");
  out.raise("--use-megatron-fsdp");
  out.set("--data-parallel-sharding-strategy", s.plan.zero_stage == 2 ? "optim_grads" : "optim_grads_params");
  out.set("--ckpt-format", "fsdp_dtensor");
  out.note("--use-custom-fsdp before core 0.14; wants CUDA_DEVICE_MAX_CONNECTIONS above 1");
}

void zero_group(const Subject& s, const EmitJson& value, Entry& out) {
  if (!value.is_number())
    return out.lacks("the simulator chooses the group: simulate, and emit what it chose");
  if (s.plan.zero_stage == 0 || s.plan.zero_group_size >= s.plan.data_parallel)
    return out.usual("all replicas");
  out.set("--num-distributed-optimizer-instances", s.plan.data_parallel / s.plan.zero_group_size);
}

void reshard(const Subject& s, const EmitJson& value, Entry& out) {
  if (s.plan.zero_stage < 3) return out.idle();
  value == true ? out.usual() : out.lacks("FSDP drops parameters after each use");
}

void prefetch(const Subject& s, const EmitJson&, Entry& out) {
  if (s.plan.zero_stage < 3) return out.idle();
  out.lacks("FSDP gathers ahead as --suggested-communication-unit-size (elements) lets it");
}

void fsdp_unit(const Subject& s, const EmitJson&, Entry& out) {
  if (s.plan.zero_stage < 3) return out.idle();
  s.plan.fsdp_unit_layers == 1 ? out.usual() : out.lacks("a unit of FSDP is one layer");
}

void reduction(const Subject& s, const EmitJson& value, Entry& out) {
  const bool each = s.plan.zero_stage >= 2;
  (value == "every-micro-batch") == each
      ? out.usual()
      : out.lacks("gradients are reduced with each micro-batch under FSDP alone");
}

void overlap_gather(const Subject& s, const EmitJson& value, Entry& out) {
  if (s.plan.zero_stage == 0) return out.idle();
  if (value == false) return out.usual();
  if (!s.plan.overlap_gradient_reduce)
    return out.lacks("parameters are gathered ahead only with overlap_gradient_reduce");
  out.raise("--overlap-param-gather");
}

void overlap_tensor(const Subject& s, const EmitJson& value, Entry& out) {
  if (s.plan.tensor_parallel == 1) return out.idle();
  if (value == true) return out.usual(kCudaConnections);
  out.lacks("gradients of weights are always computed while those of inputs are reduced");
}

void overlap_chunks(const Subject& s, const EmitJson& value, Entry& out) {
  if (!s.plan.sequence_parallel || s.plan.tensor_parallel == 1) return out.idle();
  value == true ? out.raise("--tp-comm-overlap") : out.usual();
}

void cuda_graphs(const Subject& s, const EmitJson&, Entry& out) {
  if (s.plan.cuda_graphs == CudaGraphs::none) return out.usual();
  const bool whole = s.plan.cuda_graphs == CudaGraphs::step;
  out.set("--cuda-graph-impl", whole ? "local" : "transformer_engine");
  out.set("--cuda-graph-scope", whole ? "full_iteration" : "attn");
  if (whole) out.raise("--no-check-for-nan-in-loss-and-grad");
  out.note("after core 0.14; before it --external-cuda-graph captures layers");
}

void scatter_gather(const Subject& s, const EmitJson& value, Entry& out) {
  if (!s.pipelined() || s.plan.tensor_parallel == 1) return out.idle();
  value == true ? out.usual() : out.raise("--no-scatter-gather-tensors-in-pipeline");
}

void bucket(const Subject& s, const EmitJson&, Entry& out) {
  if (!s.plan.overlap_gradient_reduce || !s.replicated()) return out.idle();
  if (s.plan.bucket_mb == 0)
    return out.lacks("with overlap_gradient_reduce gradients are in several buckets");
  const double bytes = s.plan.bucket_mb * 1e6;
  out.set("--ddp-bucket-size", std::llround(bytes / static_cast<double>(s.e.software.gradient_bytes)));
  out.note("in gradients");
}

void collectives(const Subject& s, const EmitJson&, Entry& out) {
  const bool free = std::ranges::all_of(s.plan.collectives, [](const auto& name) { return name == "auto"; });
  free ? out.usual("NCCL chooses") : out.lacks("NCCL chooses algorithms, for all of a kind by NCCL_ALGO");
}

void rank_order(const Subject&, const EmitJson& value, Entry& out) {
  if (value == "tp-cp-ep-dp-pp") return out.usual();
  if (value == "tp-cp-ep-pp-dp") return out.raise("--use-tp-pp-dp-mapping");
  out.lacks("ranks are in the order tp-cp-ep-dp-pp or tp-cp-ep-pp-dp");
}

void precision(const Subject& s, const EmitJson& value, Entry& out) {
  const Precision precision = s.plan.precision;
  if (precision == Precision::fp32) return out.usual();
  if (precision == Precision::tf32) return out.usual("PyTorch takes TF32 with NVIDIA_TF32_OVERRIDE=1");
  const bool half = precision == Precision::fp16;
  const bool wide = s.e.software.gradient_bytes == 4;
  out.raise(half ? "--fp16" : "--bf16");
  if (half == wide) out.raise(half ? "--accumulate-allreduce-grads-in-fp32" : "--grad-reduce-in-bf16");
  if (!is_narrow(precision)) return;
  if (precision == Precision::fp4) {
    out.set("--fp4-format", "e2m1");
    return out.note("after core 0.14");
  }
  out.set("--fp8-format", precision == Precision::fp8 ? "hybrid" : "e4m3");
  if (value == "fp8") return;
  out.set("--fp8-recipe", precision == Precision::mxfp8 ? "mxfp8" : "blockwise");
}

void wire(const Subject& s, const EmitJson& value, Entry& out) {
  const bool gradients = value.size() == 1 && s.plan.wire_precision.data == Precision::bf16;
  if (gradients && s.plan.precision != Precision::fp16) {
    if (s.e.software.gradient_bytes == 4) out.note("gradients are kept in 16 bits too");
    return out.raise("--grad-reduce-in-bf16");
  }
  out.lacks("only gradients have a width of their own on the wire (--grad-reduce-in-bf16)");
}

void optimizer(const Subject& s, const EmitJson&, Entry& out) {
  if (s.plan.optimizer == Optimizer::adam) return out.usual();
  if (s.plan.optimizer == Optimizer::muon)
    return out.set("--optimizer", s.plan.zero_stage > 0 ? "dist_muon" : "muon");
  if (s.plan.optimizer == Optimizer::adam_8bit || s.plan.optimizer == Optimizer::lion)
    return out.lacks("optimizers are Adam and SGD");
  out.set("--optimizer", "sgd");
  if (s.plan.optimizer == Optimizer::sgd) out.set("--sgd-momentum", 0);
}

constexpr char kPrecisionAware[] = "--use-precision-aware-optimizer";

void offload(const Subject& s, const EmitJson&, Entry& out) {
  const double share = s.plan.offload_fraction;
  if (s.plan.offload == Offload::none) return out.usual();
  if (s.plan.offload == Offload::optimizer) {
    out.raise("--optimizer-cpu-offload");
    out.set("--optimizer-offload-fraction", share);
    return out.raise(kPrecisionAware);
  }
  const double layers = static_cast<double>(s.model.layers / s.plan.pipeline_parallel);
  out.set("--cpu-offloading-num-layers", std::llround(share * layers));
}

void offload_fraction(const Subject& s, const EmitJson&, Entry& out) {
  s.plan.offload == Offload::none ? out.idle() : out.usual("stands with plan.offload");
}

void moments(const Subject&, const EmitJson& value, Entry& out) {
  if (value == "fp32") return out.usual();
  out.raise(kPrecisionAware);
  out.set("--exp-avg-dtype", value);
  out.set("--exp-avg-sq-dtype", value);
}

void main_weights(const Subject&, const EmitJson& value, Entry& out) {
  if (value == "fp32") return out.usual();
  if (value == "none") return out.lacks("16-bit parameters are updated on a copy of them");
  out.raise(kPrecisionAware);
  out.set("--main-params-dtype", value);
}

constexpr std::string_view kOfData = "it is a property of the data, which the router decides";
constexpr std::string_view kOtherName = "another name for a key above";

}  // namespace

constexpr KeyRow kPlanRows[] = {
    KeyRow::same("plan.tensor_parallel", "--tensor-model-parallel-size"),
    KeyRow::same("plan.pipeline_parallel", "--pipeline-model-parallel-size"),
    KeyRow::by("plan.data_parallel",
               [](const Subject&, const EmitJson&, Entry& out) { out.usual("what is left of the GPUs"); }),
    KeyRow::same("plan.context_parallel", "--context-parallel-size"),
    KeyRow::by("plan.context_parallel_type", context_type),
    KeyRow::by("plan.hierarchical_context_parallel_size", hierarchical_size),
    KeyRow::lacks("plan.sub_seq_length", kOtherName),
    KeyRow::by("plan.expert_parallel", of_experts<kExpertParallel>),
    KeyRow::by("plan.expert_tensor_parallel", of_experts<kExpertTensorParallel>),
    KeyRow::by("plan.dispatcher", dispatcher),
    KeyRow::by("plan.capacity_factor", capacity),
    KeyRow::lacks("plan.token_imbalance", kOfData),
    KeyRow::lacks("plan.token_histogram", kOfData),
    KeyRow::by("plan.overlap_expert_parallel", of_experts<kOverlapExperts>),
    KeyRow::by("plan.overlap_shared_experts", of_experts<kOverlapShared>),
    KeyRow::same("plan.sequence_parallel", "--sequence-parallel"),
    KeyRow::same("plan.micro_batch_size", "--micro-batch-size"),
    KeyRow::lacks("plan.replica_batch_sizes", "all replicas have equally many samples"),
    KeyRow::same("plan.global_batch_size", "--global-batch-size"),
    KeyRow::by("plan.pipeline_schedule", schedule),
    KeyRow::by("plan.virtual_stages", virtual_stages),
    KeyRow::same("plan.micro_batch_group_size", "--microbatch-group-size-per-virtual-pipeline-stage"),
    KeyRow::lacks("plan.warmup_micro_batches", "the warm-up is that of the schedule"),
    KeyRow::by("plan.stage_layers", stage_layers),
    KeyRow::by("plan.recompute", megatron_recompute),
    KeyRow::by("plan.zero_stage", zero_stage),
    KeyRow::lacks("plan.sharding", kOtherName),
    KeyRow::by("plan.zero_group_size", zero_group),
    KeyRow::by("plan.gradient_reduction", reduction),
    KeyRow::by("plan.reshard_after_forward", reshard),
    KeyRow::by("plan.prefetch", prefetch),
    KeyRow::by("plan.fsdp_unit_layers", fsdp_unit),
    KeyRow::same("plan.overlap_gradient_reduce", "--overlap-grad-reduce"),
    KeyRow::by("plan.overlap_parameter_gather", overlap_gather),
    KeyRow::by("plan.overlap_tensor_parallel", overlap_tensor),
    KeyRow::by("plan.overlap_tensor_chunks", overlap_chunks),
    KeyRow::by("plan.cuda_graphs", cuda_graphs),
    KeyRow::by("plan.scatter_gather", scatter_gather),
    KeyRow::by("plan.bucket_mb", bucket),
    KeyRow::by("plan.collectives", collectives),
    KeyRow::by("plan.rank_order", rank_order),
    KeyRow::by("plan.precision", precision),
    KeyRow::by("plan.wire_precision", wire),
    KeyRow::by("plan.optimizer", optimizer),
    KeyRow::by("plan.offload", offload),
    KeyRow::by("plan.offload_fraction", offload_fraction),
    KeyRow::by("plan.loss_chunks", whole_loss),
    KeyRow::by("plan.frozen_precision", wide_weights),
    KeyRow::by("plan.moment_precision", moments),
    KeyRow::by("plan.main_weight_precision", main_weights),
};

}  // namespace megatron_arguments

std::span<const KeyRow> megatron_rows() {
  static const std::vector<KeyRow> rows = [] {
    std::vector<KeyRow> all(std::begin(megatron_arguments::kPlanRows),
                            std::end(megatron_arguments::kPlanRows));
    const std::span<const KeyRow> model = megatron_model_rows();
    all.insert(all.end(), model.begin(), model.end());
    return all;
  }();
  return rows;
}

std::string write_megatron(const Experiment& experiment) {
  const ExportReport sheet(experiment, megatron_rows());
  std::string text = "#!/usr/bin/env bash\n";
  text += sheet.heading("Megatron-LM (Megatron Core 0.12 to 0.14)",
                        "Data, tokenizer, learning rate and checkpoints are yours: give them as arguments.");
  text += "set -euo pipefail\n";
  if (experiment.plan.zero_stage < 2) text += "export CUDA_DEVICE_MAX_CONNECTIONS=1\n";
  text += shell_arguments("ARGUMENTS", sheet);
  text += sheet.remainder("Megatron-LM");
  return text + fmt::format(
                    "exec torchrun --nnodes {} --nproc-per-node {} ${{TORCHRUN_ARGUMENTS:-}} \\\n"
                    "  pretrain_gpt.py \"${{ARGUMENTS[@]}}\" \"$@\"\n",
                    experiment.cluster.nodes, experiment.cluster.gpus_per_node);
}

}  // namespace orrery
