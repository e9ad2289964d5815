// Models whose layers are of several kinds: gated delta nets, Mamba-2, layers of unlike widths.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "importers/models/families.hpp"
#include "importers/models/model_reading.hpp"

namespace orrery::importers::models {
namespace {

/// Qwen3-Next and Qwen3.5: three gated delta nets to one layer of attention.
void read_qwen3_next(ModelReading& r) {
  r.set_from("gated_delta_net.key_heads", {"linear_num_key_heads"});
  r.set_from("gated_delta_net.value_heads", {"linear_num_value_heads"});
  r.set_from("gated_delta_net.key_dim", {"linear_key_head_dim"});
  r.set_from("gated_delta_net.value_dim", {"linear_value_head_dim"});
  r.set_from("gated_delta_net.conv_kernel", {"linear_conv_kernel_dim"});
  const Keys gate = r.keys.take({"attn_output_gate"});
  if (r.keys.flag({"attn_output_gate"}, true)) r.set("attention_output_gate", true, gate, "as in its code");
  const Json types = r.keys.value({"layer_types"});
  const std::int64_t every = r.keys.integer({"full_attention_interval"}).value_or(4);
  r.each_layer([&](std::int64_t at, LayerRun& layer) {
    const auto index = static_cast<std::size_t>(at);
    const bool linear = types.is_array() && index < types.size() ? types[index] == "linear_attention"
                                                                 : every < 1 || (at + 1) % every != 0;
    if (linear) layer.mixer = TokenMixer::gated_delta_net;
  });
}

void add_gate_of_shared(ModelReading& r) {
  if (r.count_or("shared_experts", 0) > 0)
    r.set("shared_expert_gate", true, "what shared experts make is multiplied by a gate, as in its code");
}

/// Takes the widths of layers that are Mamba-2. Files call them in two ways.
void take_mamba2_widths(ModelReading& r) {
  r.set_from("mamba2.heads", {"mamba_num_heads", "mamba_n_heads"});
  r.set_from("mamba2.head_dim", {"mamba_head_dim", "mamba_d_head"});
  r.set_from("mamba2.groups", {"n_groups", "mamba_n_groups"});
  r.set_from("mamba2.state_dim", {"ssm_state_size", "mamba_d_state"});
  r.set_from("mamba2.conv_kernel", {"conv_kernel", "mamba_d_conv"});
  r.set_from("mamba2.chunk", {"chunk_size", "mamba_chunk_size"});
  r.ignore(r.keys.take({"expand", "mamba_expand"}), "the widths of heads say it");
}

/// Becomes a layer with one half alone: a letter of hybrid_override_pattern, or a word of layers_block_type.
bool make_half(const std::string& kind, LayerRun& layer) {
  const auto is = [&kind](std::string_view letter, std::string_view word) {
    return kind == letter || kind == word;
  };
  layer.mlp = LayerMlp::none;
  if (is("*", "attention")) return true;
  layer.attention = LayerAttention::none;
  if (is("M", "mamba")) layer.mixer = TokenMixer::mamba2;
  if (is("-", "mlp")) layer.mlp = LayerMlp::dense;
  if (is("E", "moe")) layer.mlp = LayerMlp::experts;
  return is("M", "mamba") || is("-", "mlp") || is("E", "moe");
}

constexpr std::size_t kMostKinds = 100'000;  ///< of layers, more than an experiment may have

std::vector<std::string> kinds_of(const Json& pattern) {
  std::vector<std::string> kinds;
  if (pattern.is_string() && pattern.get_ref<const std::string&>().size() <= kMostKinds)
    for (const char letter : pattern.get_ref<const std::string&>()) kinds.emplace_back(1, letter);
  for (const Json& word : pattern.is_array() ? pattern : Json::array())
    kinds.push_back(word.is_string() ? word.get<std::string>() : "");
  return kinds;
}

/// Experts that work on a narrower stream have as many weights as narrower experts on the whole one.
void narrow_latent_experts(ModelReading& r) {
  const auto latent = r.keys.integer({"moe_latent_size", "routed_expert_hidden_size"});
  const Keys keys = r.keys.take({"moe_latent_size", "routed_expert_hidden_size"});
  const std::int64_t hidden = r.count_or("hidden", 0),
                     width = r.keys.integer({"moe_intermediate_size"}).value_or(0);
  if (!latent || hidden == 0 || product_of({*latent, width}) < hidden)
    return r.ignore(keys, "experts work on the whole stream");
  const std::int64_t nearest = product_of({*latent, width}) / hidden;
  const std::string taken =
      fmt::format("experts of width {} on the whole stream, with as many weights", nearest);
  if (!r.cannot(keys, "experts that work on a narrower stream", taken)) return;
  const std::int64_t shared = product_of({r.count_or("shared_experts", 0), width});
  if (shared > 0)
    r.set("shared_experts", std::max<std::int64_t>(1, shared / nearest), "as many of that width");
  r.set("expert_ffn_hidden", nearest, taken);
  const auto mixtures = std::ranges::count(r.layers, LayerMlp::experts, &LayerRun::mlp);
  r.add_parameters(product_of({2, mixtures, hidden, *latent}), "products into the narrower stream and back");
}

void read_nemotron_h(ModelReading& r) {
  take_mamba2_widths(r);
  const std::vector<std::string> kinds =
      kinds_of(r.keys.value({"hybrid_override_pattern", "layers_block_type"}));
  const Keys keys = r.keys.take({"hybrid_override_pattern", "layers_block_type"});
  if (r.value("layers").is_null()) r.set("layers", kinds.size(), keys, "as many as there are kinds");
  r.layers.assign(kinds.size(), LayerRun{});
  bool known = r.count("layers") == static_cast<std::int64_t>(kinds.size());
  r.each_layer([&](std::int64_t at, LayerRun& layer) {
    known = make_half(kinds[static_cast<std::size_t>(at)], layer) && known;
  });
  if (!known)
    r.lack("layer_pattern", "hybrid_override_pattern has other letters than M E * - or another length");
}

/// Its layer for further tokens has attention and experts; one like the last layer is only half of it.
void complete_nemotron_h(ModelReading& r) {
  narrow_latent_experts(r);
  r.ignore(r.keys.take({"mtp_layers_block_type", "mtp_hybrid_override_pattern"}),
           "the layer for further tokens is another than the last one");
  if (r.count_or("multi_token_prediction", 0) == 0) return;
  if (r.cannot(r.facts().at("multi_token_prediction").keys,
               "a layer for further tokens that is not like the last one", "no such layer"))
    r.forget("multi_token_prediction", "left out");
}

/// Granite 4 and Bamba: a Mamba-2 or attention, and an MLP or experts, in each layer.
void read_mamba_or_attention(ModelReading& r) {
  take_mamba2_widths(r);
  const Json types = r.keys.value({"layer_types", "layers_block_type"}),
             attends = r.keys.value({"attn_layer_indices"});
  r.each_layer([&](std::int64_t at, LayerRun& layer) {
    const auto index = static_cast<std::size_t>(at);
    bool mamba = types.is_array() && index < types.size() && types[index] == "mamba";
    if (attends.is_array()) mamba = std::ranges::find(attends, Json(at)) == attends.end();
    if (mamba) layer.mixer = TokenMixer::mamba2;
  });
}

/// Granite 4 without experts has one MLP in their place, which it calls shared.
void read_granite_hybrid(ModelReading& r) {
  read_mamba_or_attention(r);
  if (r.keys.integer({"num_local_experts"}).value_or(0) > 0) {
    r.rename("ffn_hidden", "expert_ffn_hidden", "the width of an expert");
    return;
  }
  if (r.keys.has({"shared_intermediate_size"})) {
    r.forget("ffn_hidden", "shared_intermediate_size is the width of its MLPs");
    r.set_from("ffn_hidden", {"shared_intermediate_size"});
  }
}

/// Mamba-2 alone: layers without MLPs; an experiment names heads of attention though no layer has any.
void read_mamba2(ModelReading& r) {
  r.rename("heads", "mamba2.heads", "");
  r.rename("head_dim", "mamba2.head_dim", "");
  r.set_from("mamba2.groups", {"n_groups"});
  r.set_from("mamba2.state_dim", {"state_size"});
  r.set_from("mamba2.conv_kernel", {"conv_kernel"});
  r.set_from("mamba2.chunk", {"chunk_size"});
  r.ignore(r.keys.take({"expand"}), "the widths of heads say it");
  r.set("heads", r.value("mamba2.heads"), "no layer has attention");
  r.set("head_dim", r.value("mamba2.head_dim"), "no layer has attention");
  r.each_layer([](std::int64_t, LayerRun& layer) {
    layer.mixer = TokenMixer::mamba2;
    layer.mlp = LayerMlp::none;
  });
}

/// Jamba: Mamba of the first kind, with attention and experts every so many layers.
void read_jamba(ModelReading& r) {
  const Keys keys = r.keys.take({"mamba_d_state", "mamba_d_conv", "mamba_expand", "mamba_dt_rank"});
  r.cannot(keys, "Mamba of the first kind", "Mamba-2 of as many channels, 64 a head");
  const std::int64_t inner = r.count_or("hidden", 64) * r.keys.integer({"mamba_expand"}).value_or(2);
  r.set("mamba2.heads", std::max<std::int64_t>(1, inner / 64), "64 channels a head");
  r.set("mamba2.state_dim", r.keys.integer({"mamba_d_state"}).value_or(16), "mamba_d_state");
  const std::int64_t period = std::max<std::int64_t>(1, r.keys.integer({"attn_layer_period"}).value_or(8));
  const std::int64_t offset = r.keys.integer({"attn_layer_offset"}).value_or(4);
  r.each_layer([&](std::int64_t at, LayerRun& layer) {
    if (at % period != offset) layer.mixer = TokenMixer::mamba2;
  });
}

void place_jamba_experts(ModelReading& r) {
  const std::int64_t period = std::max<std::int64_t>(1, r.keys.integer({"expert_layer_period"}).value_or(2));
  const std::int64_t offset = r.keys.integer({"expert_layer_offset"}).value_or(1);
  const bool any = r.count_or("experts", 0) > 1;
  r.each_layer([&](std::int64_t at, LayerRun& layer) {
    layer.mlp = any && at % period == offset ? LayerMlp::experts : LayerMlp::dense;
  });
}

std::int64_t rounded_up(std::int64_t value, std::int64_t to) { return (value + to - 1) / to * to; }

/// One entry of block_configs of Nemotron-NAS (DeciLM). @returns false where it has what no layer can be
bool make_block(const Json& block, std::int64_t hidden, std::int64_t heads, LayerRun& layer) {
  if (!block.is_object()) return false;
  const Json attention = block.value("attention", Json::object()), ffn = block.value("ffn", Json::object());
  if (!attention.is_object() || !ffn.is_object()) return false;
  const auto is = [](const Json& part, const char* flag) { return part.value(flag, Json(false)) == true; };
  if (is(attention, "replace_with_linear") || is(ffn, "replace_with_linear")) return false;
  if (is(attention, "no_op")) layer.attention = LayerAttention::none;
  if (is(ffn, "no_op")) layer.mlp = LayerMlp::none;
  const std::int64_t group = integer_of(attention.value("n_heads_in_group", Json(1))).value_or(1);
  if (layer.attention != LayerAttention::none && group > 0 && heads % group == 0)
    layer.kv_heads = heads / group;
  const Json multiple = ffn.value("ffn_mult", Json());
  if (multiple.is_number() && multiple.get<double>() > 0 && multiple.get<double>() < 1000)
    layer.ffn_hidden = rounded_up(
        static_cast<std::int64_t>(2 * multiple.get<double>() * static_cast<double>(hidden) / 3), 256);
  if (const auto width = integer_of(ffn.value("intermediate_size", Json()))) layer.ffn_hidden = *width;
  return true;
}

/// Layers that are neither attention nor MLP vanish.
void drop_empty_layers(ModelReading& r) {
  const auto before = r.layers.size();
  std::erase_if(r.layers, [](const LayerRun& layer) {
    return layer.attention == LayerAttention::none && layer.mixer == TokenMixer::attention &&
           layer.mlp == LayerMlp::none;
  });
  if (r.layers.size() != before)
    r.set("layers", r.layers.size(), fmt::format("{} of {} do nothing", before - r.layers.size(), before));
}

void read_nemotron_nas(ModelReading& r) {
  const Json blocks = r.keys.value({"block_configs"});
  const std::int64_t hidden = r.count_or("hidden", 0), heads = r.count_or("heads", 1);
  bool known = blocks.is_array() && blocks.size() == r.layers.size();
  r.each_layer([&](std::int64_t at, LayerRun& layer) {
    known = known && make_block(blocks[static_cast<std::size_t>(at)], hidden, heads, layer);
  });
  if (!known)
    r.cannot(r.keys.take({"block_configs"}),
             "layers that are a single product, or blocks of another number than layers",
             "plain layers in their place");
  std::int64_t widest = 1, most = 1;
  for (const LayerRun& layer : r.layers) widest = std::max(widest, layer.ffn_hidden);
  for (const LayerRun& layer : r.layers) most = std::max(most, layer.kv_heads);
  r.set("ffn_hidden", widest, "the widest of its layers");
  r.set("kv_heads", most, "the most of its layers");
  drop_empty_layers(r);
}

/// DeciLM-7B has a number of key heads for each layer.
void read_decilm(ModelReading& r) {
  if (r.keys.has({"block_configs"})) return read_nemotron_nas(r);
  const Json numbers = r.keys.value({"num_key_value_heads_per_layer"});
  r.each_layer([&numbers](std::int64_t at, LayerRun& layer) {
    const auto index = static_cast<std::size_t>(at);
    if (numbers.is_array() && index < numbers.size()) layer.kv_heads = integer_of(numbers[index]).value_or(0);
  });
  const Keys keys = r.keys.take({"num_key_value_heads_per_layer"});
  if (!keys.empty()) r.set("kv_heads", r.value("heads"), keys, "layers have their own numbers");
}

/// OpenELM widens from layer to layer.
void read_openelm(ModelReading& r) {
  const Json heads = r.keys.value({"num_query_heads"}), groups = r.keys.value({"num_kv_heads"});
  const Json widths = r.keys.value({"ffn_multipliers"});
  const std::int64_t hidden = r.count_or("hidden", 0);
  r.each_layer([&](std::int64_t at, LayerRun& layer) {
    const auto index = static_cast<std::size_t>(at);
    if (heads.is_array() && index < heads.size()) layer.heads = integer_of(heads[index]).value_or(0);
    if (groups.is_array() && index < groups.size()) layer.kv_heads = integer_of(groups[index]).value_or(0);
    if (!widths.is_array() || index >= widths.size() || !widths[index].is_number()) return;
    const double width = std::clamp(widths[index].get<double>(), 0.0, 1000.0) * static_cast<double>(hidden);
    layer.ffn_hidden = rounded_up(static_cast<std::int64_t>(width - 127), 256);
  });
  if (r.layers.empty()) return;
  r.set("heads", r.layers.back().heads, r.keys.take({"num_query_heads"}), "layer by layer");
  r.set("kv_heads", r.layers.back().kv_heads, "layer by layer");
  r.set("ffn_hidden", r.layers.back().ffn_hidden, r.keys.take({"ffn_multipliers"}), "layer by layer");
}

const std::array kHybrids{
    Family{.types = "qwen3_next qwen3_5_moe_text qwen3_5_moe qwen3_5_text qwen3_5",
           .classes = "Qwen3NextForCausalLM Qwen3_5ForCausalLM Qwen3_5MoeForCausalLM "
                      "Qwen3_5ForConditionalGeneration Qwen3_5MoeForConditionalGeneration",
           .block = {.qk_norm = "head"},
           .before = read_qwen3_next,
           .after = add_gate_of_shared},
    Family{.types = "nemotron_h nemotron_h_text",
           .classes = "NemotronHForCausalLM",
           .block = {.gated = false},
           .before = read_nemotron_h,
           .after = complete_nemotron_h},
    Family{
        .types = "granitemoehybrid", .classes = "GraniteMoeHybridForCausalLM", .before = read_granite_hybrid},
    Family{.types = "bamba", .classes = "BambaForCausalLM", .before = read_mamba_or_attention},
    Family{.types = "mamba2", .classes = "Mamba2ForCausalLM", .before = read_mamba2},
    Family{
        .types = "jamba", .classes = "JambaForCausalLM", .before = read_jamba, .after = place_jamba_experts},
    Family{.types = "nemotron-nas deci", .classes = "DeciLMForCausalLM", .before = read_decilm},
    Family{.types = "openelm",
           .classes = "OpenELMForCausalLM",
           .block = {.tied = true, .qk_norm = "head"},
           .before = read_openelm},
};

}  // namespace

std::span<const Family> hybrid_families() { return kHybrids; }

}  // namespace orrery::importers::models
