// NeMo: YAML that overrides a recipe of Megatron-Bridge, which sets the fields of Megatron Core's
// configurations. So most settings are Megatron-LM's arguments under the names of those fields; the rows here
// are the others. Names as in src/megatron/bridge/training/config.py, comm_overlap.py and mixed_precision.py
// of late 2025 (github NVIDIA-NeMo/Megatron-Bridge, 0.2).
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/emit/export_report.hpp"

namespace orrery {
namespace nemo_overrides {
namespace {

void virtual_stages(const Subject& s, const EmitJson& value, Entry& out) {
  s.plan.virtual_stages == 1 ? out.idle() : out.set("model.virtual_pipeline_model_parallel_size", value);
}

void zero_stage(const Subject& s, const EmitJson&, Entry& out) {
  const bool sharded = s.plan.zero_stage > 0;
  out.set("ddp.use_distributed_optimizer", sharded);
  out.set("optimizer.use_distributed_optimizer", sharded);
  if (s.plan.zero_stage < 2) return;
  out.set("ddp.use_megatron_fsdp", true);
  out.set("ddp.data_parallel_sharding_strategy",
          s.plan.zero_stage == 2 ? "optim_grads" : "optim_grads_params");
  out.set("checkpoint.ckpt_format", "fsdp_dtensor");
}

void overlap_reduce(const Subject&, const EmitJson& value, Entry& out) {
  out.set("ddp.overlap_grad_reduce", value);
  out.set("comm_overlap.overlap_grad_reduce", value);
}

void overlap_gather(const Subject& s, const EmitJson& value, Entry& out) {
  if (s.plan.zero_stage == 0) return out.idle();
  if (value == true && !s.plan.overlap_gradient_reduce)
    return out.lacks("parameters are gathered ahead only with overlap_gradient_reduce");
  out.set("ddp.overlap_param_gather", value);
  out.set("comm_overlap.overlap_param_gather", value);
}

void overlap_chunks(const Subject&, const EmitJson& value, Entry& out) {
  out.set("comm_overlap.tp_comm_overlap", value);
}

void precision(const Subject& s, const EmitJson&, Entry& out) {
  constexpr std::array<std::string_view, kPrecisionCount> kRecipes{"",
                                                                   "",
                                                                   "fp16_mixed",
                                                                   "bf16_mixed",
                                                                   "bf16_with_fp8_current_scaling_mixed",
                                                                   "bf16_with_nvfp4_mixed",
                                                                   "bf16_with_fp8_subchannel_scaling_mixed",
                                                                   "bf16_with_mxfp8_mixed"};
  const std::string_view recipe = kRecipes[static_cast<std::size_t>(s.plan.precision)];
  if (recipe.empty()) return out.lacks("recipes compute products in 16 bits or fewer");
  out.set("mixed_precision", recipe);
  if (s.plan.precision != Precision::fp16 && s.e.software.gradient_bytes == 2)
    out.note("gradients of 2 bytes with cfg.mixed_precision.grad_reduce_in_fp32 = False in Python");
}

void wire(const Subject& s, const EmitJson& value, Entry& out) {
  if (value.size() == 1 && s.plan.wire_precision.data == Precision::bf16) {
    out.note("gradients are kept in 16 bits too");
    return out.set("ddp.grad_reduce_in_fp32", false);
  }
  out.lacks("only gradients have a width of their own on the wire (ddp.grad_reduce_in_fp32)");
}

constexpr std::string_view kTypes = "types of PyTorch are set in Python, such as cfg.optimizer.exp_avg_dtype";

void moments(const Subject&, const EmitJson& value, Entry& out) {
  value == "fp32" ? out.usual() : out.lacks(kTypes);
}

void gated(const Subject&, const EmitJson& value, Entry& out) {
  out.set("model.gated_linear_unit", value);
  if (value == true) out.note("with cfg.model.activation_func = torch.nn.functional.silu in Python");
}

void vocabulary(const Subject&, const EmitJson& value, Entry& out) {
  out.set("model.vocab_size", value);
  out.set("model.should_pad_vocab", false);
}

void sequence(const Subject&, const EmitJson& value, Entry& out) {
  out.set("model.seq_length", value);
  out.set("dataset.seq_length", value);
  out.note("dataset.sequence_length in older versions");
}

void kv_heads(const Subject&, const EmitJson& value, Entry& out) { out.set("model.num_query_groups", value); }

void set_layers_with_experts(const Model& model, Entry& out) {
  EmitJson list = EmitJson::array();
  for (std::int64_t layer = 0; layer < model.layers; ++layer)
    list.push_back(model.has_experts(layer) ? 1 : 0);
  out.set("model.moe_layer_freq", list);
}

void leading_layers(const Subject& s, const EmitJson&, Entry& out) {
  s.model.dense_layers == 0 ? out.usual() : set_layers_with_experts(s.model, out);
}

void moe_frequency(const Subject& s, const EmitJson& value, Entry& out) {
  if (s.model.dense_layers > 0) return out.usual("stands with model.dense_layers");
  value == 1 ? out.usual() : set_layers_with_experts(s.model, out);
}

void lora_targets(const Subject& s, const EmitJson& value, Entry& out) {
  s.model.lora_rank > 0 ? out.set("peft.target_modules", value) : out.idle();
}

void window(const Subject& s, const EmitJson&, Entry& out) {
  if (!s.model.slides()) return out.usual();
  out.set("model.window_size", EmitJson::array({s.model.window - 1, 0}));
}

/// Samples over those of a step.
void iterations(const Subject& s, std::int64_t samples, Entry& out) {
  out.set("train.train_iters", (samples + s.plan.global_batch_size - 1) / s.plan.global_batch_size);
}

constexpr KeyRow kRows[] = {
    KeyRow::same("plan.micro_batch_size", "train.micro_batch_size"),
    KeyRow::same("plan.global_batch_size", "train.global_batch_size"),
    KeyRow::by("plan.virtual_stages", virtual_stages),
    KeyRow::by("plan.zero_stage", zero_stage),
    KeyRow::by("plan.overlap_gradient_reduce", overlap_reduce),
    KeyRow::by("plan.overlap_parameter_gather", overlap_gather),
    KeyRow::by("plan.overlap_tensor_chunks", overlap_chunks),
    KeyRow::by("plan.precision", precision),
    KeyRow::by("plan.wire_precision", wire),
    KeyRow::by("plan.loss_chunks", whole_loss),
    KeyRow::by("plan.frozen_precision", wide_weights),
    KeyRow::by("plan.moment_precision", moments),
    KeyRow::by("plan.main_weight_precision", moments),
    KeyRow::by("model.gated_mlp", gated),
    KeyRow::same("model.tied_embeddings", "model.share_embeddings_and_output_weights"),
    KeyRow::same("model.biases", "model.add_bias_linear"),
    KeyRow::same("model.qkv_biases", "model.add_qkv_bias"),
    KeyRow::by("model.vocab", vocabulary),
    KeyRow::by("model.seq_length", sequence),
    KeyRow::by("model.kv_heads", kv_heads),
    KeyRow::by("model.dense_layers", leading_layers),
    KeyRow::by("model.moe_layer_frequency", moe_frequency),
    KeyRow::by("model.window", window),
    KeyRow::same("model.lora_rank", "peft.dim"),
    KeyRow::by("model.lora_targets", lora_targets),
    KeyRow::by("training.tokens",
               [](const Subject& s, const EmitJson& value, Entry& out) {
                 iterations(s, value.get<std::int64_t>() / s.model.seq_length, out);
               }),
    KeyRow::by("training.samples", [](const Subject& s, const EmitJson& value,
                                      Entry& out) { iterations(s, value.get<std::int64_t>(), out); }),
};

/// Arguments whose field has another name, or lies in another part than the model.
constexpr std::pair<std::string_view, std::string_view> kFields[] = {
    {"--num-experts", "model.num_moe_experts"},
    {"--max-position-embeddings", "model.max_position_embeddings"},
    {"--microbatch-group-size-per-virtual-pipeline-stage", "model.microbatch_group_size_per_vp_stage"},
    {"--decoder-first-pipeline-num-layers", "model.num_layers_in_first_pipeline_stage"},
    {"--decoder-last-pipeline-num-layers", "model.num_layers_in_last_pipeline_stage"},
    {"--no-check-for-nan-in-loss-and-grad", "rerun_state_machine.check_for_nan_in_loss"},
    {"--ddp-bucket-size", "ddp.bucket_size"},
    {"--num-distributed-optimizer-instances", "ddp.num_distributed_optimizer_instances"},
    {"--use-tp-pp-dp-mapping", "dist.use_tp_pp_dp_mapping"},
    {"--optimizer", "optimizer.optimizer"},
    {"--sgd-momentum", "optimizer.sgd_momentum"},
    {"--optimizer-cpu-offload", "optimizer.optimizer_cpu_offload"},
    {"--optimizer-offload-fraction", "optimizer.optimizer_offload_fraction"},
    {"--use-precision-aware-optimizer", "optimizer.use_precision_aware_optimizer"},
};

std::string field_of(const std::string& path) {
  if (!path.starts_with("--")) return path;
  const auto found = std::ranges::find(kFields, path, [](const auto& field) { return field.first; });
  if (found != std::end(kFields)) return std::string(found->second);
  std::string name = path.substr(2);
  std::ranges::replace(name, '-', '_');
  return "model." + name;
}

}  // namespace
}  // namespace nemo_overrides

std::span<const KeyRow> nemo_rows() {
  static const std::vector<KeyRow> rows = [] {
    std::vector<KeyRow> all(std::begin(nemo_overrides::kRows), std::end(nemo_overrides::kRows));
    for (const KeyRow& row : megatron_rows())
      if (std::ranges::find(all, row.key, &KeyRow::key) == all.end()) all.push_back(row);
    return all;
  }();
  return rows;
}

std::string write_nemo(const Experiment& experiment) {
  ExportReport sheet(experiment, nemo_rows());
  sheet.rename(nemo_overrides::field_of);
  return sheet.heading("NeMo's Megatron-Bridge 0.2",
                       "Overrides of a recipe; data, tokenizer, learning rate and checkpoints are its own.") +
         settings_as_yaml(sheet) + "\n" + sheet.remainder("Megatron-Bridge");
}

}  // namespace orrery
