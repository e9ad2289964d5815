// Mixtures of experts: Mixtral, DeepSeek and its kin, Qwen, Llama 4, GPT-OSS, GLM, MiniMax and others.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "importers/models/families.hpp"
#include "importers/models/model_reading.hpp"

namespace orrery::importers::models {
namespace {

constexpr const char* kExpertWidthNote = "the width of an expert";

/// intermediate_size is the width of an expert; another key may have that of dense layers.
void take_width_for_experts(ModelReading& r) {
  r.rename("ffn_hidden", "expert_ffn_hidden", kExpertWidthNote);
  r.set_from("ffn_hidden", {"intermediate_size_mlp", "dense_intermediate_size"}, "the width of dense layers");
}

/// Llama 4 has one shared expert that no key names, and in most layers attention in chunks.
void read_llama4(ModelReading& r) {
  take_width_for_experts(r);
  r.set("shared_experts", 1, "implied: its code has one in every layer with experts");
  r.ignore(r.keys.take({"attention_chunk_size"}),
           "attention in chunks is full attention up to that length, and taken as such beyond it");
  r.ignore(r.keys.take({"use_qk_norm"}), "norms without parameters, left out");
  r.block.qk_norm_is_keyed = true;
}

/// Sinks of attention are one number a head and layer.
void add_sinks(ModelReading& r) {
  r.add_parameters(product_of({r.count_or("layers", 0), r.count_or("heads", 0)}), "sinks of attention");
}

/// GPT-OSS slides in every other layer, from the first on.
void place_gpt_oss_windows(ModelReading& r) {
  take_width_for_experts(r);
  if (r.keys.has({"layer_types"})) return;
  r.each_layer([](std::int64_t at, LayerRun& layer) {
    if (at % 2 == 0) layer.attention = LayerAttention::window;
  });
}

void read_dbrx(ModelReading& r) { take_width_for_experts(r); }

/// A bias of each token's logit.
void read_phimoe(ModelReading& r) {
  take_width_for_experts(r);
  if (r.keys.flag({"lm_head_bias"}, false))
    r.add_parameters(r.count_or("vocab", 0), "biases of the output projection");
  r.ignore(r.keys.take({"lm_head_bias"}), "counted among other parameters");
}

/// Shared experts of Qwen2-MoE have a gate.
void add_shared_gate(ModelReading& r) {
  if (r.count_or("shared_experts", 0) > 0)
    r.set("shared_expert_gate", true, "what shared experts make is multiplied by a gate, as in its code");
}

/// MiniMax-M2 names modules for further tokens, which its released weights do not have.
void read_minimax_m2(ModelReading& r) {
  take_width_for_experts(r);
  r.ignore(r.keys.take({"num_mtp_modules", "mtp_transformer_layers", "use_mtp"}),
           "the released weights have no such modules");
}

void read_minimax_m3(ModelReading& r) {
  take_width_for_experts(r);
  const Keys keys = r.keys.take({"sparse_attention_config.use_sparse_attention"});
  if (r.keys.flag({"sparse_attention_config.use_sparse_attention"}, false))
    r.cannot(keys, "attention to blocks that an index picks, without latent attention",
             "attention to all tokens");
  r.block.qk_norm = r.keys.value({"qk_norm_type"}) == "per_head" ? "head" : "whole";
  r.ignore(r.keys.take({"qk_norm_type"}), "model.qk_norm says it");
  r.ignore(r.keys.take({"num_mtp_modules"}), "num_nextn_predict_layers says how many there are");
}

/// Queries and keys may be wider than values in plain attention: the mean of both widths has as many weights,
/// FLOPs and cached values.
void join_head_widths(ModelReading& r) {
  const auto query = r.count("head_dim"), value = r.keys.integer({"v_head_dim"});
  const Keys keys = r.keys.take({"v_head_dim", "swa_head_dim", "swa_v_head_dim", "swa_num_attention_heads"});
  if (!query || !value || *query == *value) return r.ignore(keys, "values are as wide as queries");
  r.set("head_dim", (*query + *value) / 2, keys,
        fmt::format("the mean of {} and {}: as many weights, FLOPs and cached values", *query, *value));
}

/// MiMo-V2: a list says which layers slide, and these have other numbers of key heads.
void read_mimo_v2(ModelReading& r) {
  join_head_widths(r);
  const Json slides = r.keys.value({"hybrid_layer_pattern"});
  const std::int64_t kv = r.keys.integer({"swa_num_key_value_heads"}).value_or(0);
  r.ignore(r.keys.take({"swa_num_key_value_heads"}), "kv_heads of layers with a window");
  r.each_layer([&](std::int64_t at, LayerRun& layer) {
    const auto index = static_cast<std::size_t>(at);
    if (!slides.is_array() || index >= slides.size() || slides[index] != 1) return;
    layer.attention = LayerAttention::window;
    if (kv != r.count("kv_heads")) layer.kv_heads = kv;
  });
  const bool sinks = r.keys.flag({"add_swa_attention_sink_bias"}, false);
  r.ignore(r.keys.take({"add_swa_attention_sink_bias", "add_full_attention_sink_bias"}),
           "counted among other parameters");
  r.ignore(r.keys.take({"attention_chunk_size"}), "sliding_window decides");
  if (!sinks) return;
  const auto sliding = std::ranges::count(r.layers, LayerAttention::window, &LayerRun::attention);
  r.add_parameters(product_of({sliding, r.count_or("heads", 0)}), "sinks of attention in windows");
}

/// ERNIE 4.5 has experts in layers from a first to a last one.
void read_ernie(ModelReading& r) {
  if (const auto last = r.keys.integer({"moe_layer_end_index"});
      last && *last + 1 >= static_cast<std::int64_t>(r.layers.size()))
    r.ignore(r.keys.take({"moe_layer_end_index"}), "all layers behind the first have experts");
}

void read_hunyuan(ModelReading& r) {
  take_width_for_experts(r);
  const Keys keys = r.keys.take({"use_cla", "cla_share_factor"});
  if (r.keys.flag({"use_cla"}, false))
    r.cannot(keys, "keys and values that layers share", "keys and values of every layer");
  else
    r.ignore(keys, "every layer has its own keys and values");
}

/// Arcee's mixture gates the output of attention, and all but every so many layers slide.
void read_afmoe(ModelReading& r) {
  r.set("attention_output_gate", true, "as in its code");
  const std::int64_t every = r.keys.integer({"global_attn_every_n_layers"}).value_or(4);
  if (r.keys.has({"layer_types"}) || every < 1) return;
  r.each_layer([every](std::int64_t at, LayerRun& layer) {
    if ((at + 1) % every != 0) layer.attention = LayerAttention::window;
  });
}

/// Layers for further tokens of Step have a narrow MLP in place of experts: 0.4 % of the weights, left out.
void drop_step_mtp(ModelReading& r) {
  r.forget("multi_token_prediction",
           "layers for further tokens are dense and small, unlike the last one: left out");
}

/// Returns the least number of a list in words, as "3,4,5"; nothing where one is no number.
std::optional<std::int64_t> least_of(std::string_view list) {
  std::optional<std::int64_t> least;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    std::int64_t number = 0;
    const auto parsed = std::from_chars(list.data(), list.data() + end, number);
    if (parsed.ec != std::errc() || parsed.ptr != list.data() + end || number < 0) return std::nullopt;
    least = std::min(number, least.value_or(number));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return least;
}

/// Layers of Step with a window have other numbers of heads, in files that say so.
void take_heads_of_windows(ModelReading& r) {
  const auto heads = r.keys.integer({"attention_other_setting.num_attention_heads"});
  const auto kv = r.keys.integer({"attention_other_setting.num_attention_groups"});
  r.ignore(r.keys.take_part("attention_other_setting"), "heads of layers with a window");
  r.each_layer([&](std::int64_t, LayerRun& layer) {
    if (layer.attention != LayerAttention::window) return;
    if (heads && heads != r.count("heads")) layer.heads = *heads;
    if (kv && kv != r.count("kv_heads")) layer.kv_heads = *kv;
  });
}

/// Step lists the layers with experts in words, from the first one to the last layer.
void read_step(ModelReading& r) {
  drop_step_mtp(r);
  take_heads_of_windows(r);
  const Json list = r.keys.value({"moe_layers_enum"});
  const auto dense = list.is_string() ? least_of(list.get_ref<const std::string&>()) : std::nullopt;
  if (!dense) return;
  r.each_layer([&dense](std::int64_t at, LayerRun& layer) {
    layer.mlp = at < *dense ? LayerMlp::dense : LayerMlp::experts;
  });
}

constexpr const char* kMixtral = R"({"experts": 8, "experts_per_token": 2})";

const std::array kMixtures{
    Family{.types = "mixtral",
           .classes = "MixtralForCausalLM",
           .defaults = kMixtral,
           .before = take_width_for_experts},
    Family{.types = "olmoe",
           .classes = "OlmoeForCausalLM",
           .block = {.qk_norm = "whole"},
           .before = take_width_for_experts},
    Family{.types = "flex_olmo",
           .classes = "FlexOlmoForCausalLM",
           .block = {.qk_norm = "whole"},
           .before = take_width_for_experts},
    Family{.types = "granitemoe granitemoeshared",
           .classes = "GraniteMoeForCausalLM GraniteMoeSharedForCausalLM",
           .before = take_width_for_experts},
    Family{.types = "phimoe",
           .classes = "PhiMoEForCausalLM PhimoeForCausalLM",
           .block = {.norm = NormKind::layer},
           .before = read_phimoe},
    Family{.types = "grok-1 grok1 grok_1 grok",
           .classes = "Grok1ModelForCausalLM Grok1ForCausalLM",
           .block = {.tied = true, .post_norms = true},
           .before = take_width_for_experts},
    Family{.types = "dbrx",
           .classes = "DbrxForCausalLM",
           .block = {.norm = NormKind::layer_without_biases},
           .before = read_dbrx},
    Family{.types = "qwen2_moe",
           .classes = "Qwen2MoeForCausalLM",
           .block = {.biases = {.qkv = true}, .keyed_biases = false},
           .after = add_shared_gate},
    Family{.types = "qwen3_moe qwen3_vl_moe_text qwen3_vl_moe qwen3_omni_moe_text qwen3_omni_moe",
           .classes = "Qwen3MoeForCausalLM",
           .block = {.qk_norm = "head"}},
    Family{.types = "deepseek_v2 deepseek_v3 kimi_k2 kimi_k25 kimi_vl deepseek_v32 glm_moe_dsa "
                    "deepseek_vl_v2 glm4_moe_lite "
                    "joyai_llm_flash",
           .classes = "DeepseekV2ForCausalLM DeepseekV3ForCausalLM DeepseekV32ForCausalLM "
                      "GlmMoeDsaForCausalLM KimiK2ForCausalLM Glm4MoeLiteForCausalLM",
           .block = {.keyed_biases = false}},
    Family{.types = "glm4_moe glm4v_moe_text glm4v_moe",
           .classes = "Glm4MoeForCausalLM",
           .block = {.qk_norm = "head", .qk_norm_is_keyed = true, .output_is_keyed = false}},
    Family{.types = "dots1", .classes = "Dots1ForCausalLM", .block = {.qk_norm = "head"}},
    Family{.types = "bailing_moe bailing_moe_v2",
           .classes = "BailingMoeForCausalLM BailingMoeV2ForCausalLM",
           .block = {.qk_norm = "head", .qk_norm_is_keyed = true}},
    Family{.types = "llama4_text llama4",
           .classes = "Llama4ForCausalLM Llama4ForConditionalGeneration",
           .before = read_llama4},
    Family{.types = "gpt_oss",
           .classes = "GptOssForCausalLM",
           .block = {.biases = {true, true, true}},
           .before = place_gpt_oss_windows,
           .after = add_sinks},
    Family{.types = "minimax_m2",
           .classes = "MiniMaxM2ForCausalLM",
           .block = {.qk_norm = "whole"},
           .before = read_minimax_m2},
    Family{.types = "minimax_m3",
           .classes = "MiniMaxM3ForCausalLM",
           .block = {.qk_norm = "whole"},
           .before = read_minimax_m3},
    Family{.types = "mimo_v2_flash mimo_v2", .classes = "MiMoV2FlashForCausalLM", .before = read_mimo_v2},
    Family{.types = "ernie4_5_moe ernie4_5_moe_text ernie4_5_vl_moe_text",
           .classes = "Ernie4_5_MoeForCausalLM Ernie4_5_MoEForCausalLM",
           .block = {.tied = true},
           .before = read_ernie},
    Family{.types = "hunyuan_v1_moe hunyuan",
           .classes = "HunYuanMoEV1ForCausalLM HunYuanForCausalLM",
           .block = {.qk_norm = "head", .qk_norm_is_keyed = true},
           .before = read_hunyuan},
    Family{.types = "afmoe",
           .classes = "AfmoeForCausalLM",
           .block = {.post_norms = true, .qk_norm = "head"},
           .before = read_afmoe},
    Family{.types = "step3p5 step3p7 step3p5_text",
           .classes = "Step3p5ForCausalLM Step3p7FlashForCausalLM Step3p5FlashForCausalLM",
           .block = {.qk_norm = "head"},
           .after = read_step},
};

}  // namespace

std::span<const Family> expert_families() { return kMixtures; }

}  // namespace orrery::importers::models
