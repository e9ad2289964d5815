#include "importers/frameworks/llm_foundry.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "importers/frameworks/arguments.hpp"
#include "importers/frameworks/fsdp.hpp"
#include "importers/frameworks/omegaconf.hpp"

namespace orrery::importers::frameworks {
namespace {

bool recognises_foundry(const SourceFile& file) {
  const auto has = [&file](std::string_view word) {
    return file.text().find(word) != std::string_view::npos;
  };
  return has("mpt_causal_lm") || has("hf_causal_lm") || has("device_train_microbatch_size") ||
         (has("global_train_batch_size") && has("max_seq_len"));
}

std::string_view reason_in_foundry(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 31> kReasons{
      {{"variables.", "stands where it is used"},
       {"run_name", "a name"},
       {"tokenizer", "data and tokenizer, which change no step here"},
       {"train_loader", "data and tokenizer, which change no step here"},
       {"icl_", "evaluation, which is no part of a step here"},
       {"eval_", "evaluation, which is no part of a step here"},
       {"device_eval", "evaluation, which is no part of a step here"},
       {"scheduler", "learning, which takes no time of its own"},
       {"optimizer", "learning, which takes no time of its own"},
       {"algorithms", "learning, which takes no time of its own"},
       {"seed", "learning, which takes no time of its own"},
       {"max_duration", "the length of the training changes no step"},
       {"save_", "checkpoints, which are no part of a step here"},
       {"load_", "checkpoints, which are no part of a step here"},
       {"autoresume", "checkpoints, which are no part of a step here"},
       {"progress_bar", "logging, which is no part of a step here"},
       {"log_", "logging, which is no part of a step here"},
       {"console_log", "logging, which is no part of a step here"},
       {"python_log", "logging, which is no part of a step here"},
       {"callbacks", "logging, which is no part of a step here"},
       {"loggers", "logging, which is no part of a step here"},
       {"dist_timeout", "how processes start, which changes no step"},
       {"model.init_device", "how weights begin, which changes no step"},
       {"model.init_config", "how weights begin, which changes no step"},
       {"model.loss_fn", "fusion of kernels, which the stack has by its version"},
       {"model.pretrained", "checkpoints, which are no part of a step here"},
       {"model.ffn_config.", "detail of the MLP"},
       {"model.attn_config.", "detail of attention"},
       {"model.config_overrides", "the model's own file says it"},
       {"model.", "detail of the model"},
       {"fsdp_config.", "detail of FSDP"}}};
  for (const auto& [begins, why] : kReasons)
    if (name.starts_with(begins)) return why;
  return "";
}

std::int64_t number_or(LaunchArguments& all, const char* ours, std::int64_t otherwise) {
  return whole_number(all.draft().value(ours)).value_or(otherwise);
}

void read_mpt_attention(LaunchArguments& all) {
  const std::string kernel = all.take_text("model.attn_config.attn_impl");
  if (!kernel.empty())
    all.became("model.attn_config.attn_impl", "model.attention", kernel == "torch" ? "core" : "flash");
  all.draft().default_to("model.attention", "flash", "llm-foundry's default");
  const std::string type = all.take_text("model.attn_config.attn_type");
  if (type == "multiquery_attention") all.became("model.attn_config.attn_type", "model.kv_heads", 1);
  all.map_count("model.attn_config.kv_n_heads", "model.kv_heads");
  const bool rotary = all.take_flag("model.attn_config.rope") == true,
             alibi = all.take_flag("model.attn_config.alibi") == true;
  if (rotary) all.became("model.attn_config.rope", "model.positions", "rotary");
  if (alibi)
    all.became("model.attn_config.alibi", "model.positions", "rotary",
               "the nearest: positions without a table of weights");
  const bool learned = all.take_flag("model.learned_pos_emb").value_or(!rotary && !alibi);
  all.draft().default_to("model.positions", learned ? "learned" : "rotary", "llm-foundry's default");
  if (const auto window = all.take_count("model.attn_config.sliding_window_size", -1); window && *window > 0)
    all.became("model.attn_config.sliding_window_size", "model.window", *window);
}

void read_mpt_mlp(LaunchArguments& all) {
  const std::string type = all.take_text("model.ffn_config.ffn_type");
  const bool gated = type.find("glu") != std::string::npos || all.contains("model.ffn_config.mlp_type");
  const bool experts = type.find("moe") != std::string::npos;
  if (!type.empty()) all.became("model.ffn_config.ffn_type", "model.gated_mlp", gated);
  all.draft().default_to("model.gated_mlp", false, "llm-foundry's default: mptmlp");
  const LaunchArgument* ratio = all.take("model.expansion_ratio");
  const double times = ratio != nullptr && ratio->value.is_number() ? ratio->value.get<double>() : 4.0;
  const std::int64_t hidden = number_or(all, "model.hidden", 0);
  if (all.contains("model.ffn_config.ffn_hidden_size"))
    all.map_count("model.ffn_config.ffn_hidden_size", "model.ffn_hidden");
  else if (times > 0 && times < 1000 && hidden > 0 && hidden < 10'000'000)
    ratio != nullptr
        ? all.became("model.expansion_ratio", "model.ffn_hidden",
                     static_cast<std::int64_t>(times * static_cast<double>(hidden)), "times the width")
        : all.draft().default_to("model.ffn_hidden", 4 * hidden, "llm-foundry's default: 4 hidden");
  if (!experts) return;
  all.draft().default_to("model.kind", "moe-transformer", "it has experts");
  all.map_count("model.ffn_config.moe_num_experts", "model.experts");
  all.map_count("model.ffn_config.moe_top_k", "model.experts_per_token");
  all.draft().default_to("model.experts_per_token", 1, "MegaBlocks' default");
  if (const auto ranks = all.take_count("model.ffn_config.moe_world_size"); ranks && *ranks > 1)
    all.became("model.ffn_config.moe_world_size", "plan.expert_parallel", *ranks);
}

void read_mpt(LaunchArguments& all) {
  all.map_count("model.n_layers", "model.layers");
  all.map_count("model.d_model", "model.hidden");
  all.map_count("model.n_heads", "model.heads");
  all.map_count("model.vocab_size", "model.vocab");
  if (!all.draft().has("model.hidden")) return;
  read_mpt_attention(all);
  read_mpt_mlp(all);
  if (const auto none = all.take_flag("model.no_bias")) all.became("model.no_bias", "model.biases", !*none);
  all.draft().default_to("model.biases", true, "llm-foundry's default");
  all.map_flag("model.tie_word_embeddings", "model.tied_embeddings");
  all.draft().default_to("model.tied_embeddings", true, "llm-foundry's default");
  const std::string norm = all.take_text("model.norm_type");
  if (!norm.empty())
    all.became("model.norm_type", "model.normalization",
               norm.find("rms") != std::string::npos ? "rmsnorm" : "layernorm");
  all.draft().default_to("model.normalization", "layernorm", "llm-foundry's default");
  const LaunchArgument* dropped = all.take("model.resid_pdrop");
  if (dropped != nullptr && dropped->value.is_number())
    all.became("model.resid_pdrop", "model.dropout", dropped->value > 0);
  all.draft().default_to("model.dropout", false, "llm-foundry's default");
  if (all.take_flag("model.attn_config.qk_ln") == true)
    all.became("model.attn_config.qk_ln", "model.qk_norm", "whole");
}

void read_foundry_batch(LaunchArguments& all) {
  all.map_count("global_train_batch_size", "plan.global_batch_size");
  const LaunchArgument* micro = all.find("device_train_microbatch_size");
  if (micro != nullptr && micro->value == "auto") {
    all.answered("device_train_microbatch_size");
    all.draft().await(micro->source, "plan.micro_batch_size",
                      "\"auto\" is found while training: --set plan.micro_batch_size=N");
  }
  if (micro != nullptr && micro->value != "auto")
    all.map_count("device_train_microbatch_size", "plan.micro_batch_size");
  const std::string precision = all.take_text("precision");
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kNames{
      {{"amp_bf16", "bf16"}, {"amp_fp16", "fp16"}, {"amp_fp8", "fp8"}, {"fp32", "fp32"}, {"bf16", "bf16"}}};
  const auto known = std::ranges::find(kNames, precision, [](const auto& row) { return row.first; });
  if (known != kNames.end()) all.became("precision", "plan.precision", known->second);
}

/// mixed_precision of Composer's FSDP: the width in which gradients are kept and reduced.
void read_foundry_widths(LaunchArguments& all) {
  const std::string widths = all.take_text("fsdp_config.mixed_precision");
  if (widths == "pure")
    all.became("fsdp_config.mixed_precision", "software.gradient_bytes", 2, "PURE reduces in 16 bits");
  if (widths == "default")
    all.became("fsdp_config.mixed_precision", "software.gradient_bytes", 4, "DEFAULT reduces in 32 bits");
}

void read_foundry(const ImportContext& context, Draft& draft) {
  LaunchArguments all(context, draft);
  const SourceKeys keys = interpolated(SourceKeys(context.file), context);
  for (const SourceKey& key : keys.list()) {
    // parameters of a whole: llm-foundry 0.1 had them below
    const std::string name = key.key.starts_with("parameters.") ? key.key.substr(11) : key.key;
    all.add({name, key.value, key});
  }
  all.map("model.pretrained_model_name_or_path", launch::kModel);
  all.map_count(all.contains("max_seq_len") ? "max_seq_len" : "model.max_seq_len", "model.seq_length");
  all.ignore("model.max_seq_len", "max_seq_len gives it");
  all.ignore("model.name", "a transformer");
  read_mpt(all);
  read_foundry_batch(all);
  all.map_count("gpu_num", launch::kGpus);
  all.map_count("compute.gpus", launch::kGpus);
  if (std::ranges::any_of(keys.list(), [](const SourceKey& key) {
        return key.key.find("fsdp_config.") != std::string::npos;
      })) {
    read_foundry_widths(all);
    read_fsdp_config(all, "fsdp_config.");
  }
  draft.default_to("stack", "fsdp-2023", "the nearest calibrated version of llm-foundry");
  all.rest(reason_in_foundry);
}

}  // namespace

const Importer kLlmFoundry{
    {"llm-foundry", "YAML of MosaicML's llm-foundry"}, recognises_foundry, read_foundry};

}  // namespace orrery::importers::frameworks
