#include "importers/frameworks/gpt_neox.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "importers/frameworks/deepspeed.hpp"
#include "importers/frameworks/gpus_in_comments.hpp"
#include "importers/frameworks/megatron.hpp"

namespace orrery::importers::frameworks {
namespace {

constexpr std::int64_t kMultiple = 256;  ///< widths of its MLPs are multiples of it

constexpr std::array kNeoxNames{
    Spelling{"pipe_parallel_size", "pipeline_model_parallel_size"},
    Spelling{"model_parallel_size", "tensor_model_parallel_size"},
    Spelling{"num_kv_heads", "num_key_value_heads"},
    Spelling{"norm", "normalization"},
    Spelling{"no_weight_tying", "untie_embeddings_and_output_weights"},
    Spelling{"sliding_window_width", "window"},
    Spelling{"train_micro_batch_size_per_gpu", "micro_batch_size"},
    Spelling{"zero_optimization.stage", "zero_stage"},
    Spelling{"bf16.enabled", "bf16"},
    Spelling{"fp16.enabled", "fp16"},
    Spelling{"moe_num_experts", "num_experts"},
    Spelling{"moe_top_k", "moe_router_topk"},
    Spelling{"moe_expert_parallel_size", "expert_model_parallel_size"},
    Spelling{"expert_interval", "expert_interval"},
    Spelling{"intermediate_size", "neox_intermediate_size"},
    Spelling{"expansion_factor", "neox_expansion_factor"},
};

bool recognises_neox(const SourceFile& file) {
  const auto has = [&file](std::string_view word) {
    return file.text().find(word) != std::string_view::npos;
  };
  const bool sizes = has("pipe_parallel_size") || has("pipe-parallel-size") || has("gpt_j_residual") ||
                     has("\"output_layer_parallelism\"") || has("\"output-layer-parallelism\"");
  const bool paths = has("\"vocab_file\"") || has("\"vocab-file\"");
  const bool places = has("\"tensorboard_dir\"") || has("\"tensorboard-dir\"") || has("\"data_path\"") ||
                      has("\"train_data_paths\"");
  return sizes || (paths && places && !has("#!/"));
}

std::string plain(std::string name) {
  const std::size_t dot = name.find('.');
  std::replace(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(std::min(dot, name.size())), '-',
               '_');
  return name;
}

/// Kinds of attention, layer by layer: [[["flash"], 32]].
std::string first_kind(const Json& value) {
  const Json* at = &value;
  while (at->is_array() && !at->empty()) at = &(*at)[0];
  return text_of(*at);
}

bool mentions(const Json& value, std::string_view kind) {
  if (value.is_array())
    return std::ranges::any_of(value, [kind](const Json& v) { return mentions(v, kind); });
  return value.is_string() && value.get_ref<const std::string&>().find(kind) != std::string::npos;
}

void read_attention_kinds(LaunchArguments& all) {
  const LaunchArgument* kinds = all.take("attention_config");
  if (kinds == nullptr)
    return all.draft().default_to("model.attention", "core", "GPT-NeoX without flash attention");
  for (const char* other : {"mamba", "rwkv", "gmlp", "amlp", "bslongformer", "bigbird", "sparse"})
    if (mentions(kinds->value, other))
      all.refuse("attention_config", fmt::format("layers of the kind {} are not modelled", other),
                 "attention to all tokens");
  all.became("attention_config", "model.attention", first_kind(kinds->value) == "flash" ? "flash" : "core");
}

/// A gated MLP has two thirds of the width for gate and input together, as megatron/model/transformer.py cuts
/// it.
void read_mlp(LaunchArguments& all) {
  const std::string activation = all.take_text("activation");
  constexpr std::array<std::string_view, 5> kGated{"swiglu", "geglu", "reglu", "bilinear", "glu"};
  const bool gated = std::ranges::find(kGated, activation) != kGated.end();
  if (!activation.empty()) all.became("activation", "model.gated_mlp", gated);
  const auto hidden = whole_number(all.draft().value("model.hidden"));
  const auto stated = all.take_count("neox_intermediate_size");
  if (!hidden || *hidden > 10'000'000 || stated.value_or(1) > 100'000'000) return;
  all.draft().default_to("model.gated_mlp", false, "GPT-NeoX's default: gelu");
  const std::int64_t whole = stated.value_or(4 * *hidden);
  const std::int64_t width = gated ? whole * 2 / 3 / 2 : whole;
  const std::int64_t rounded = (width + kMultiple - 1) / kMultiple * kMultiple;
  const std::string note = gated
                               ? "gate, input and output share the width: a third of it, in multiples of 256"
                               : "in multiples of 256";
  if (stated)
    all.became("neox_intermediate_size", "model.ffn_hidden", rounded, note);
  else
    all.draft().default_to("model.ffn_hidden", rounded, "GPT-NeoX's default: 4 hidden; " + note);
}

void read_residual(LaunchArguments& all) {
  all.map_flag("gpt_j_residual", "model.parallel_block");
  const auto norms = all.take_flag("use_bias_in_norms"), attention = all.take_flag("use_bias_in_attn_linear");
  const auto mlp = all.take_flag("use_bias_in_mlp");
  const char* told = attention ? "use_bias_in_attn_linear" : mlp ? "use_bias_in_mlp" : "use_bias_in_norms";
  if (attention || mlp || norms)
    all.became(told, "model.biases", attention.value_or(true) || mlp.value_or(attention.value_or(true)));
  for (const char* other : {"use_bias_in_norms", "use_bias_in_attn_linear", "use_bias_in_mlp"})
    all.ignore(other, "stands with model.biases");
  all.map_count("window", "model.window");
}

/// pos_emb: rotary, learned, none, and biases of scores.
void read_neox_positions(LaunchArguments& all) {
  const std::string kind = all.take_text("pos_emb");
  if (kind == "rotary") return all.became("pos_emb", "model.positions", "rotary");
  if (kind == "alibi" || kind == "rpe" || kind == "none" || kind == "sinusoidal")
    return all.became("pos_emb", "model.positions", kind == "rpe" ? "relative" : "rotary",
                      "the nearest: positions without a table of weights");
  if (!kind.empty()) return all.became("pos_emb", "model.positions", "learned");
}

void read_neox_shape(LaunchArguments& all) {
  all.map_count("hidden_size", "model.hidden");
  if (!all.draft().has("model.hidden")) return;
  read_attention_kinds(all);
  read_mlp(all);
  read_residual(all);
  read_neox_positions(all);
  const auto share = [&all](const char* name) {
    const LaunchArgument* argument = all.take(name);
    return argument != nullptr && argument->value.is_number() && argument->value > 0;
  };
  const bool of_hidden = share("hidden_dropout"), of_attention = share("attention_dropout");
  const bool drops = of_hidden || of_attention;
  const char* told = all.contains("hidden_dropout") ? "hidden_dropout" : "attention_dropout";
  all.became(told, "model.dropout", drops);
  all.draft().default_to("model.dropout", false, "GPT-NeoX's default");
  for (const char* other : {"hidden_dropout", "attention_dropout"})
    all.ignore(other, "stands with model.dropout");
}

void read_steps(LaunchArguments& all) {
  all.map_count("train_batch_size", "plan.global_batch_size");
  all.map_count("gradient_accumulation_steps", launch::kAccumulation);
  if (!all.contains("train_batch_size") && all.contains("micro_batch_size"))
    all.draft().default_to(launch::kAccumulation, 1, "GPT-NeoX's default");
  const std::string precision = all.take_text("precision");
  if (precision == "fp16" || precision == "bfloat16" || precision == "fp32")
    all.became("precision", "plan.precision", precision == "bfloat16" ? "bf16" : precision);
  if (const LaunchArgument* stages = all.find("pipeline_model_parallel_size");
      stages != nullptr && stages->value == 0)
    all.ignore("pipeline_model_parallel_size", "no pipeline");
}

std::string_view reason_in_neox(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kReasons{
      {{"output_layer_parallelism", "the output projection is cut along the vocabulary"},
       {"scaled_", "fusion of kernels, which the stack has by its version"},
       {"layernorm_fusion", "fusion of kernels, which the stack has by its version"},
       {"rmsnorm_fusion", "fusion of kernels, which the stack has by its version"},
       {"rope_fusion", "fusion of kernels, which the stack has by its version"},
       {"output_layer_init_method", "learning, which takes no time of its own"},
       {"keep_last_n_checkpoints", "checkpoints, which are no part of a step here"},
       {"checkpoint_", "checkpoints, which are no part of a step here"},
       {"extra_save_iters", "checkpoints, which are no part of a step here"},
       {"train_data", "data and tokenizer, which change no step here"},
       {"weight_by", "data and tokenizer, which change no step here"},
       {"distributed_backend", "how processes start, which changes no step"},
       {"launcher", "how processes start, which changes no step"},
       {"rotary_pct", "rotary positions, whose kernels are alike"},
       {"use_wandb", "logging, which is no part of a step here"},
       {"mamba_", "of layers of the kind mamba"}}};
  for (const auto& [begins, why] : kReasons)
    if (name.starts_with(begins)) return why;
  const std::string_view more = reason_in_deepspeed(name);
  return more.empty() ? reason_to_ignore(name) : more;
}

void read_neox(const ImportContext& context, Draft& draft) {
  LaunchArguments all(context, draft);
  const SourceKeys keys(context.file);
  for (const SourceKey& key : keys.list())
    all.add(respelled(key, plain(key.key), kNeoxNames.data(), kNeoxNames.size()));
  read_steps(all);
  read_neox_shape(all);
  read_megatron_parts(all, "GPT-NeoX");
  read_deepspeed_keys(all);
  read_gpus_in_comments(context.file, draft);
  draft.default_to("stack", "megatron-deepspeed-2023", "the nearest calibrated version of GPT-NeoX");
  all.rest(reason_in_neox);
}

}  // namespace

const Importer kGptNeox{{"gpt-neox", "YAML of GPT-NeoX"}, recognises_neox, read_neox};

}  // namespace orrery::importers::frameworks
