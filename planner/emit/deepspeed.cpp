// DeepSpeed: a shell script with the arguments of Megatron-DeepSpeed's pretrain_gpt.py, and DeepSpeed's JSON
// file. Names as in megatron/arguments.py of Megatron-DeepSpeed in 2024 (github
// deepspeedai/Megatron-DeepSpeed) and in docs/_pages/config-json.md of DeepSpeed 0.14 to 0.16 (github
// deepspeedai/DeepSpeed).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "planner/emit/export_report.hpp"

namespace orrery {
namespace deepspeed_settings {
namespace {

constexpr std::string_view kOfRouter = "the router decides";
constexpr std::string_view kSame = "another name for a key above";
constexpr std::string_view kNoFlag = "Megatron-DeepSpeed has no argument for it";

void pipeline_parallel(const Subject& s, const EmitJson& value, Entry& out) {
  out.set("--pipeline-model-parallel-size", value);
  if (s.pipelined()) return;
  out.raise("--no-pipeline-parallel");
  out.note("else DeepSpeed's pipeline engine runs a pipeline of one stage");
}

void data_parallel(const Subject&, const EmitJson&, Entry& out) { out.usual("what is left of the GPUs"); }

void context_parallel(const Subject& s, const EmitJson& value, Entry& out) {
  if (!s.shares_sequences()) return out.usual();
  if (s.plan.context_parallel_type != ContextParallelType::all_to_all)
    return out.lacks("ranks share sequences by all-to-all (Ulysses, --ds-sequence-parallel-size)");
  out.set("--ds-sequence-parallel-size", value);
}

void context_type(const Subject& s, const EmitJson&, Entry& out) {
  s.shares_sequences() ? out.usual("stands with plan.context_parallel") : out.idle();
}

void expert_parallel(const Subject& s, const EmitJson& value, Entry& out) {
  s.has_experts() ? out.set("--moe-expert-parallel-size", value) : out.idle();
}

void expert_tensor(const Subject& s, const EmitJson& value, Entry& out) {
  if (!s.has_experts()) return out.idle();
  if (value == 1) return out.usual();
  if (s.plan.expert_tensor_parallel != s.plan.tensor_parallel)
    return out.lacks("experts are cut over all tensor ranks or over none");
  out.raise("--enable-expert-tensor-parallelism");
}

void routing(const Subject& s, const EmitJson& value, Entry& out) {
  if (!s.has_experts()) return out.idle();
  value == "all-to-all" || value == false ? out.usual() : out.lacks("tokens go straight to their experts");
}

void capacity(const Subject& s, const EmitJson& value, Entry& out) {
  if (!s.has_experts()) return out.idle();
  if (value == 0) return out.raise("--disable-moe-token-dropping");
  out.set("--moe-train-capacity-factor", value);
}

void micro_batch(const Subject&, const EmitJson& value, Entry& out) {
  out.set("--micro-batch-size", value);
  out.set("train_micro_batch_size_per_gpu", value);
}

void global_batch(const Subject&, const EmitJson& value, Entry& out) {
  out.set("--global-batch-size", value);
  out.set("train_batch_size", value);
}

void schedule(const Subject& s, const EmitJson& value, Entry& out) {
  if (!s.pipelined() || value == "1f1b") return s.pipelined() ? out.usual() : out.idle();
  value == "zb-h1" ? out.raise("--enable-zbh1-pipeline")
                   : out.lacks("the pipeline schedule is 1F1B or ZB-H1");
}

void virtual_stages(const Subject&, const EmitJson& value, Entry& out) {
  value == 1 ? out.usual() : out.lacks("DeepSpeed's pipeline engine has one chunk per rank");
}

void recompute(const Subject& s, const EmitJson&, Entry& out) {
  const Plan& plan = s.plan;
  if (plan.recompute == Recompute::none) return out.usual();
  const bool whole = plan.recompute == Recompute::full || plan.recompute_modules.has(Module::layer);
  const bool first_ones = plan.recompute_method == RecomputeMethod::block && plan.recompute_layers > 0;
  if (!whole || first_ones || !plan.recompute_stage_layers.empty())
    return out.lacks("activation checkpointing is of all layers");
  out.raise("--checkpoint-activations");
  out.raise("--deepspeed-activation-checkpointing");
  out.set("--checkpoint-num-layers", std::max<std::int64_t>(plan.recompute_layers, 1));
}

void zero_stage(const Subject& s, const EmitJson& value, Entry& out) {
  out.set("--zero-stage", value);
  out.set("zero_optimization.stage", value);
  if (s.plan.zero_stage == 0) return;
  out.set("zero_optimization.contiguous_gradients", true);
  out.set("zero_optimization.reduce_scatter", true);
  if (s.plan.zero_stage > 1 && s.pipelined()) out.note("the pipeline engine takes ZeRO-1 at most");
}

void zero_group(const Subject& s, const EmitJson& value, Entry& out) {
  if (!value.is_number())
    return out.lacks("the simulator chooses the group: simulate, and emit what it chose");
  if (s.plan.zero_stage == 0 || s.plan.zero_group_size >= s.plan.data_parallel)
    return out.usual("all replicas");
  if (s.plan.zero_stage < 3) return out.lacks("groups of replicas shard under ZeRO-3 (MiCS)");
  out.set("zero_optimization.mics_shard_size", value);
}

void reduction(const Subject& s, const EmitJson& value, Entry& out) {
  const bool each = s.plan.zero_stage >= 2;
  (value == "every-micro-batch") == each
      ? out.usual()
      : out.lacks("gradients are reduced with each micro-batch from ZeRO-2 on");
}

/// Exports a key that exists with ZeRO-3 only.
void zero3(const Subject& s, const EmitJson& value, Entry& out) {
  if (s.plan.zero_stage < 3) return out.idle();
  value == true || value == 1 ? out.usual()
                              : out.lacks("ZeRO-3 is bounded in parameters (stage3_* of zero_optimization)");
}

void overlap_reduce(const Subject& s, const EmitJson& value, Entry& out) {
  if (s.plan.zero_stage == 0) return out.lacks("without ZeRO gradients are reduced after the backward pass");
  out.set("zero_optimization.overlap_comm", value);
}

void overlap_gather(const Subject& s, const EmitJson& value, Entry& out) {
  if (s.plan.zero_stage == 0) return out.idle();
  if (s.plan.zero_stage == 3) return out.usual("parameters are gathered ahead with overlap_comm");
  value == false ? out.usual() : out.lacks("parameters are gathered after the optimizer step");
}

void overlap_tensor(const Subject& s, const EmitJson& value, Entry& out) {
  if (s.plan.tensor_parallel == 1) return out.idle();
  value == true ? out.usual("with CUDA_DEVICE_MAX_CONNECTIONS=1, exported above")
                : out.raise("--no-async-tensor-model-parallel-allreduce");
}

void off_only(const Subject&, const EmitJson& value, Entry& out) {
  value == false || value == "none" ? out.usual() : out.lacks(kNoFlag);
}

void scatter_gather(const Subject& s, const EmitJson& value, Entry& out) {
  if (!s.pipelined() || s.plan.tensor_parallel == 1) return out.idle();
  value == false ? out.usual() : out.lacks("DeepSpeed's pipeline engine sends whole activations");
}

void bucket(const Subject& s, const EmitJson&, Entry& out) {
  if (s.plan.zero_stage == 0 || !s.replicated()) return out.idle();
  if (s.plan.bucket_mb == 0) return out.lacks("there is always a size of buckets");
  const double bytes = s.plan.bucket_mb * 1e6;
  out.set("zero_optimization.reduce_bucket_size",
          std::llround(bytes / static_cast<double>(s.e.software.gradient_bytes)));
  out.note("in gradients");
}

void collectives(const Subject& s, const EmitJson&, Entry& out) {
  const bool free = std::ranges::all_of(s.plan.collectives, [](const auto& name) { return name == "auto"; });
  free ? out.usual("NCCL chooses") : out.lacks("NCCL chooses algorithms, for all of a kind by NCCL_ALGO");
}

void rank_order(const Subject&, const EmitJson& value, Entry& out) {
  value == "tp-cp-ep-dp-pp" ? out.usual()
                            : out.lacks("ranks are in the order tensor, data, pipeline, innermost first");
}

void precision(const Subject& s, const EmitJson&, Entry& out) {
  const Precision precision = s.plan.precision;
  if (precision == Precision::fp32 || precision == Precision::tf32) return out.usual();
  if (is_narrow(precision)) out.note("the nearest: products are in 32 or 16 bits");
  const bool half = precision == Precision::fp16;
  out.raise(half ? "--fp16" : "--bf16");
  out.set(half ? "fp16.enabled" : "bf16.enabled", true);
  out.set("data_types.grad_accum_dtype", s.e.software.gradient_bytes == 4 ? "fp32" : half ? "fp16" : "bf16");
}

void wire(const Subject& s, const EmitJson& value, Entry& out) {
  const auto& data = s.plan.wire_precision.data;
  const bool known = data && (*data == Precision::fp32 || !is_narrow(*data));
  if (value.size() != 1 || !known)
    return out.lacks("only gradients have a width on the wire (communication_data_type)");
  out.set("communication_data_type", kPrecisionNames[static_cast<std::size_t>(*data)]);
}

void optimizer(const Subject& s, const EmitJson&, Entry& out) {
  if (s.plan.optimizer == Optimizer::adam) return out.usual();
  const bool sgd = s.plan.optimizer == Optimizer::sgd || s.plan.optimizer == Optimizer::sgd_momentum;
  if (!sgd) return out.lacks("optimizers are Adam and SGD");
  out.set("--optimizer", "sgd");
  if (s.plan.optimizer == Optimizer::sgd) out.set("--sgd-momentum", 0);
}

void offload(const Subject& s, const EmitJson&, Entry& out) {
  if (s.plan.offload == Offload::none) return out.usual();
  if (s.plan.offload == Offload::activations) return out.raise("--checkpoint-in-cpu");
  out.raise("--cpu-optimizer");
  out.set("zero_optimization.offload_optimizer.device", "cpu");
  out.set("zero_optimization.offload_optimizer.pin_memory", true);
  out.set("zero_optimization.offload_optimizer.ratio", s.plan.offload_fraction);
  out.note("a ratio below 1 needs ZeRO-3 (Twin-Flow)");
}

void offload_fraction(const Subject& s, const EmitJson& value, Entry& out) {
  if (s.plan.offload == Offload::none) return out.idle();
  const bool told = s.plan.offload == Offload::optimizer || value == 1;
  told ? out.usual("stands with plan.offload") : out.lacks("all activations are offloaded or none");
}

void widths(const Subject&, const EmitJson& value, Entry& out) {
  value == "fp32" ? out.usual() : out.lacks("states of the optimizer and its parameters are in 32 bits");
}

void kv_heads(const Subject& s, const EmitJson& value, Entry& out) {
  s.model.kv_heads == s.model.heads ? out.usual() : out.set("--num-key-value-heads", value);
}

void head_dim(const Subject& s, const EmitJson& value, Entry& out) {
  s.model.head_dim* s.model.heads == s.model.hidden ? out.usual() : out.set("--kv-channels", value);
}

void attention(const Subject&, const EmitJson& value, Entry& out) {
  value == "flash" ? out.raise("--use-flash-attn-v2") : out.usual();
}

void normalization(const Subject&, const EmitJson& value, Entry& out) { out.set("--normalization", value); }

void positions(const Subject& s, const EmitJson&, Entry& out) {
  if (s.model.positions == Positions::learned) return out.usual();
  if (s.model.positions == Positions::relative) return out.lacks("positions are learned or rotary");
  out.raise("--use-rotary-position-embeddings");
  out.raise("--no-position-embedding");
}

/// Exports a key of models that Megatron-DeepSpeed cannot express.
void beyond(const Subject&, const EmitJson& value, Entry& out) {
  const bool plain = value == 0 || value == false || value == "none" || value == 1;
  plain ? out.usual() : out.lacks(kNoFlag);
}

void further_tokens(const Subject&, const EmitJson& value, Entry& out) {
  value == 0 ? out.usual() : out.lacks(kNoFlag);
}

void qkv_biases(const Subject& s, const EmitJson&, Entry& out) {
  s.model.qkv_biases == s.model.biases ? out.usual() : out.lacks(kNoFlag);
}

void further(const Subject& s, const EmitJson&, Entry& out) {
  s.model.dense_layers == 0 ? out.usual()
                            : out.lacks("layers with experts are every n-th one (--expert-interval)");
}

void frequency(const Subject&, const EmitJson& value, Entry& out) { out.set("--expert-interval", value); }

void shared_experts(const Subject&, const EmitJson& value, Entry& out) {
  value == 0 ? out.usual() : out.lacks(kNoFlag);
}

void expert_width(const Subject& s, const EmitJson&, Entry& out) {
  s.model.expert_ffn_hidden == s.model.ffn_hidden ? out.usual() : out.lacks("experts are as wide as the MLP");
}

void groups_per_token(const Subject& s, const EmitJson&, Entry& out) {
  s.model.expert_groups == 1 ? out.idle() : out.lacks(kNoFlag);
}

void samples(const Subject&, const EmitJson& value, Entry& out) { out.set("--train-samples", value); }

constexpr KeyRow kRows[] = {
    KeyRow::same("plan.tensor_parallel", "--tensor-model-parallel-size"),
    KeyRow::by("plan.pipeline_parallel", pipeline_parallel),
    KeyRow::by("plan.data_parallel", data_parallel),
    KeyRow::by("plan.context_parallel", context_parallel),
    KeyRow::by("plan.context_parallel_type", context_type),
    KeyRow::lacks("plan.hierarchical_context_parallel_size", "all ranks that share sequences exchange heads"),
    KeyRow::lacks("plan.sub_seq_length", kSame),
    KeyRow::by("plan.expert_parallel", expert_parallel),
    KeyRow::by("plan.expert_tensor_parallel", expert_tensor),
    KeyRow::by("plan.dispatcher", routing),
    KeyRow::by("plan.capacity_factor", capacity),
    KeyRow::lacks("plan.token_imbalance", kOfRouter),
    KeyRow::lacks("plan.token_histogram", kOfRouter),
    KeyRow::by("plan.overlap_expert_parallel", routing),
    KeyRow::by("plan.overlap_shared_experts", routing),
    KeyRow::same("plan.sequence_parallel", "--sequence-parallel"),
    KeyRow::by("plan.micro_batch_size", micro_batch),
    KeyRow::lacks("plan.replica_batch_sizes", "all replicas have equally many samples"),
    KeyRow::by("plan.global_batch_size", global_batch),
    KeyRow::by("plan.pipeline_schedule", schedule),
    KeyRow::by("plan.virtual_stages", virtual_stages),
    KeyRow::lacks("plan.micro_batch_group_size", "DeepSpeed's pipeline engine has one chunk per rank"),
    KeyRow::lacks("plan.warmup_micro_batches", "the warm-up is that of the schedule"),
    KeyRow::lacks("plan.stage_layers", "layers are divided by partition_method of PipelineModule, in code"),
    KeyRow::by("plan.recompute", recompute),
    KeyRow::by("plan.zero_stage", zero_stage),
    KeyRow::lacks("plan.sharding", kSame),
    KeyRow::by("plan.zero_group_size", zero_group),
    KeyRow::by("plan.gradient_reduction", reduction),
    KeyRow::by("plan.reshard_after_forward", zero3),
    KeyRow::by("plan.prefetch", zero3),
    KeyRow::by("plan.fsdp_unit_layers", zero3),
    KeyRow::by("plan.overlap_gradient_reduce", overlap_reduce),
    KeyRow::by("plan.overlap_parameter_gather", overlap_gather),
    KeyRow::by("plan.overlap_tensor_parallel", overlap_tensor),
    KeyRow::by("plan.overlap_tensor_chunks", off_only),
    KeyRow::by("plan.cuda_graphs", off_only),
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
    KeyRow::by("plan.moment_precision", widths),
    KeyRow::by("plan.main_weight_precision", widths),
    KeyRow::by("model.kv_heads", kv_heads),
    KeyRow::by("model.head_dim", head_dim),
    KeyRow::by("model.attention", attention),
    KeyRow::by("model.qkv_biases", qkv_biases),
    KeyRow::by("model.qk_norm", beyond),
    KeyRow::by("model.normalization", normalization),
    KeyRow::by("model.positions", positions),
    KeyRow::lacks("model.latent_attention", kNoFlag),
    KeyRow::lacks("model.window", kNoFlag),
    KeyRow::lacks("model.window_pattern", kNoFlag),
    KeyRow::lacks("model.layer_pattern", kNoFlag),
    KeyRow::lacks("model.attention_output_gate", kNoFlag),
    KeyRow::lacks("model.indexer", kNoFlag),
    KeyRow::lacks("model.mamba2", kNoFlag),
    KeyRow::lacks("model.gated_delta_net", kNoFlag),
    KeyRow::by("model.multi_token_prediction", further_tokens),
    KeyRow::same("model.experts", "--num-experts"),
    KeyRow::same("model.experts_per_token", "--topk"),
    KeyRow::by("model.shared_experts", shared_experts),
    KeyRow::lacks("model.shared_expert_gate", kNoFlag),
    KeyRow::by("model.expert_ffn_hidden", expert_width),
    KeyRow::by("model.dense_layers", further),
    KeyRow::by("model.moe_layer_frequency", frequency),
    KeyRow::by("model.expert_groups", beyond),
    KeyRow::by("model.groups_per_token", groups_per_token),
    KeyRow::same("training.tokens", "--train-tokens"),
    KeyRow::by("training.samples", samples),
};

}  // namespace
}  // namespace deepspeed_settings

std::span<const KeyRow> deepspeed_rows() {
  static const std::vector<KeyRow> rows = [] {
    std::vector<KeyRow> all(std::begin(deepspeed_settings::kRows), std::end(deepspeed_settings::kRows));
    for (const KeyRow& row : megatron_model_rows())
      if (std::ranges::find(all, row.key, &KeyRow::key) == all.end()) all.push_back(row);
    return all;
  }();
  return rows;
}

std::string write_deepspeed(const Experiment& experiment) {
  const ExportReport sheet(experiment, deepspeed_rows());
  std::string text = "#!/usr/bin/env bash\n";
  text += sheet.heading("Megatron-DeepSpeed (2024, DeepSpeed 0.14 to 0.16)",
                        "Data, tokenizer, learning rate and checkpoints are yours: give them as arguments.");
  text += "set -euo pipefail\nexport CUDA_DEVICE_MAX_CONNECTIONS=1\n";
  text += "# Keys of DeepSpeed's file, and where they come from:\n" + settings_as_comments(sheet);
  text +=
      "CONFIG=${CONFIG:-ds_config.json}\ncat > \"$CONFIG\" <<'JSON'\n" + settings_as_json(sheet) + "JSON\n";
  text += shell_arguments("ARGUMENTS", sheet);
  text += sheet.remainder("Megatron-DeepSpeed");
  return text + fmt::format(
                    "exec deepspeed --num_nodes {} --num_gpus {} pretrain_gpt.py --deepspeed \\\n"
                    "  --deepspeed_config \"$CONFIG\" \"${{ARGUMENTS[@]}}\" \"$@\"\n",
                    experiment.cluster.nodes, experiment.cluster.gpus_per_node);
}

}  // namespace orrery
