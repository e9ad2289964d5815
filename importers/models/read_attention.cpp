// Attention of models on Hugging Face: latent attention of DeepSeek and its kin, and windows.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "importers/models/decoder.hpp"

namespace orrery::importers::models {
namespace {

/// Members of latent_attention and indexer are objects in an experiment: dotted keys, each with its place.
void read_latent(ModelReading& r) {
  r.set_from("latent_attention.kv_rank", {"kv_lora_rank"});
  r.set_from("latent_attention.q_rank", {"q_lora_rank"});
  r.set_from("latent_attention.rope_dim", {"qk_rope_head_dim"});
  r.set_from("latent_attention.nope_dim", {"qk_nope_head_dim"});
  r.set_from("latent_attention.value_dim", {"v_head_dim"});
  r.ignore(r.keys.take({"qk_head_dim"}), "the sum of both parts of a head");
  r.forget("kv_heads", "latent attention makes keys and values for every head");
  r.forget("head_dim", "latent attention has widths of its own");
  r.block.qk_norm = "none";
}

void read_indexer(ModelReading& r) {
  if (!r.keys.has({"index_topk"})) return;
  r.set_from("indexer.heads", {"index_n_heads"});
  r.set_from("indexer.head_dim", {"index_head_dim"});
  r.set_from("indexer.top_k", {"index_topk"});
}

bool is_on(const Json& flag) { return !flag.is_boolean() || flag.get<bool>(); }

/// "LLLG" of EXAONE: L is local.
bool is_local_letter(const std::string& letters, std::int64_t layer) {
  return !letters.empty() && letters[static_cast<std::size_t>(layer) % letters.size()] == 'L';
}

/// Kinds of layers by name, one for each layer.
void place_by_types(ModelReading& r, const Json& types) {
  r.each_layer([&types](std::int64_t at, LayerRun& layer) {
    const auto index = static_cast<std::size_t>(at);
    if (index >= types.size() || !types[index].is_string()) return;
    const std::string& type = types[index].get_ref<const std::string&>();
    if (layer.mixer != TokenMixer::attention || layer.attention == LayerAttention::none) return;
    if (type == "sliding_attention") layer.attention = LayerAttention::window;
  });
}

/// Layers that have a window where layer_types does not say which.
void place_by_pattern(ModelReading& r) {
  const Json pattern = r.keys.value({"sliding_window_pattern", "_sliding_window_pattern"});
  const auto whole_from = r.keys.integer({"max_window_layers"});
  const auto every = integer_of(pattern);
  const std::string letters = pattern.is_string() ? pattern.get<std::string>() : "";
  r.each_layer([&](std::int64_t at, LayerRun& layer) {
    bool local = true;
    if (every && *every > 0) local = (at + 1) % *every != 0;
    if (!letters.empty()) local = is_local_letter(letters, at);
    if (whole_from && r.keys.has({"use_sliding_window"})) local = at >= *whole_from;
    if (local) layer.attention = LayerAttention::window;
  });
}

bool slides_anywhere(const ModelReading& r) {
  return std::ranges::any_of(r.layers,
                             [](const LayerRun& layer) { return layer.attention == LayerAttention::window; });
}

constexpr const char* kNoWindow = "no layer has a window";

/// The window, and whether it is on at all.
std::optional<std::int64_t> window_of(const ModelReading& r) {
  const auto window = r.keys.integer({"sliding_window", "sliding_window_size", "window_size"});
  const bool on = is_on(r.keys.value({"use_sliding_window"}));
  if (!on || !window || *window == 0) return std::nullopt;
  return window;
}

}  // namespace

void read_attention(ModelReading& r) {
  const Names kNormed{"use_qk_norm", "qk_layernorm", "qk_norm", "attn_config.qk_ln", "query_key_norm"};
  const bool normed = r.keys.flag(kNormed, !r.block.qk_norm_is_keyed);
  if (!normed) r.block.qk_norm = "none";
  r.ignore(r.keys.take(kNormed), r.block.qk_norm == "none" ? "queries and keys have no norms with parameters"
                                                           : "model.qk_norm says it");
  if (r.keys.has({"kv_lora_rank"})) read_latent(r);
  if (r.keys.has({"kv_lora_rank"})) read_indexer(r);
}

void read_windows(ModelReading& r) {
  const auto window = window_of(r);
  const Keys keys = r.keys.take({"sliding_window", "sliding_window_size", "window_size"});
  const Keys which = r.keys.take(
      {"use_sliding_window", "max_window_layers", "sliding_window_pattern", "_sliding_window_pattern"});
  const Json types = r.keys.value({"layer_types"});
  if (window && types.is_array())
    place_by_types(r, types);
  else if (window && !slides_anywhere(r))
    place_by_pattern(r);
  Keys all = keys;
  all.insert(all.end(), which.begin(), which.end());
  if (window && slides_anywhere(r))
    r.set("window", *window, all);
  else
    r.ignore(all, kNoWindow);
}

}  // namespace orrery::importers::models
