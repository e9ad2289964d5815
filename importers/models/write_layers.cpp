// Says what the layers of a model are in the shortest way.
#include <algorithm>
#include <span>
#include <string>

#include "importers/models/decoder.hpp"

namespace orrery::importers::models {
namespace {

using Layers = std::vector<LayerRun>;

bool alike(const LayerRun& a, const LayerRun& b) {
  return a.attention == b.attention && a.mlp == b.mlp && a.heads == b.heads && a.kv_heads == b.kv_heads &&
         a.ffn_hidden == b.ffn_hidden && a.mixer == b.mixer;
}

/// Returns the keys that say of which kind a layer is.
Keys keys_of_layers(ModelReading& r) {
  return r.keys.take({"layer_types",
                      "moe_layer_freq",
                      "mlp_layer_types",
                      "decoder_sparse_step",
                      "interleave_moe_layer_step",
                      "moe_layer_interval",
                      "first_k_dense_replace",
                      "num_dense_layers",
                      "moe_layer_start_index",
                      "moe_layer_end_index",
                      "mlp_only_layers",
                      "moe_layers",
                      "no_rope_layers",
                      "full_attention_interval",
                      "hybrid_layer_pattern",
                      "hybrid_override_pattern",
                      "layers_block_type",
                      "attn_type_list",
                      "attn_layer_period",
                      "attn_layer_offset",
                      "expert_layer_period",
                      "expert_layer_offset",
                      "attn_layer_indices",
                      "attention_types",
                      "attention_layers",
                      "block_configs",
                      "layer_group_size",
                      "global_attn_every_n_layers",
                      "moe_layers_enum"});
}

/// The period of windows: of so many layers, the last attends to all. 0: every layer slides. Nothing where no
/// period says it.
std::optional<std::int64_t> window_period(const Layers& layers) {
  const auto full = [](const LayerRun& layer) { return layer.attention == LayerAttention::full; };
  const auto first = std::ranges::find_if(layers, full);
  if (first == layers.end()) return 0;
  const auto period = (first - layers.begin()) + 1;
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (full(layers[i]) != ((static_cast<std::ptrdiff_t>(i) + 1) % period == 0)) return std::nullopt;
  return period;
}

struct ExpertPlaces {
  std::int64_t dense = 0;
  std::int64_t frequency = 1;
};

/// Returns dense layers first and then the last of every so many with experts; nothing where that is not so.
std::optional<ExpertPlaces> expert_places(const Layers& layers) {
  const auto has = [](const LayerRun& layer) { return layer.mlp == LayerMlp::experts; };
  const auto first = std::ranges::find_if(layers, has);
  if (first == layers.end()) return ExpertPlaces{};
  const auto second = std::find_if(first + 1, layers.end(), has);
  const auto frequency = second == layers.end() ? 1 : second - first;
  const auto dense = std::max<std::ptrdiff_t>(0, (first - layers.begin()) - (frequency - 1));
  for (std::ptrdiff_t i = 0; i < std::ssize(layers); ++i) {
    const bool said = i >= dense && (i - dense + 1) % frequency == 0;
    if (has(layers[static_cast<std::size_t>(i)]) != said) return std::nullopt;
  }
  return ExpertPlaces{dense, frequency};
}

/// Returns true if layers differ only in windows and experts.
bool is_plain(const Layers& layers) {
  return std::ranges::all_of(layers, [&layers](const LayerRun& layer) {
    return layer.mixer == TokenMixer::attention && layer.attention != LayerAttention::none &&
           layer.mlp != LayerMlp::none && layer.heads == 0 && layer.kv_heads == 0 &&
           layer.ffn_hidden == layers.front().ffn_hidden && layer.ffn_hidden == 0;
  });
}

/// The shortest number of layers after which they repeat.
std::size_t period_of(const Layers& layers) {
  for (std::size_t period = 1; period <= layers.size() / 2; ++period) {
    if (layers.size() % period != 0) continue;
    bool repeats = true;
    for (std::size_t i = period; i < layers.size() && repeats; ++i)
      repeats = alike(layers[i], layers[i - period]);
    if (repeats) return period;
  }
  return layers.size();
}

Json run_as_json(const LayerRun& run) {
  Json json = Json::object();
  if (run.layers > 1) json["layers"] = run.layers;
  if (run.mixer != TokenMixer::attention)
    json["kind"] = kTokenMixerNames[static_cast<std::size_t>(run.mixer)];
  if (run.mixer == TokenMixer::attention && run.attention != LayerAttention::full)
    json["attention"] = kLayerAttentionNames[static_cast<std::size_t>(run.attention)];
  if (run.mlp != LayerMlp::dense) json["mlp"] = kLayerMlpNames[static_cast<std::size_t>(run.mlp)];
  if (run.heads > 0) json["heads"] = run.heads;
  if (run.kv_heads > 0) json["kv_heads"] = run.kv_heads;
  if (run.ffn_hidden > 0) json["ffn_hidden"] = run.ffn_hidden;
  if (json.empty()) json["attention"] = "full";
  return json;
}

Json pattern_of(const Layers& layers) {
  Layers runs;
  for (const LayerRun& layer : std::span(layers).first(period_of(layers))) {
    if (!runs.empty() && alike(runs.back(), layer))
      ++runs.back().layers;
    else
      runs.push_back(layer);
  }
  Json pattern = Json::array();
  for (const LayerRun& run : runs) pattern.push_back(run_as_json(run));
  return pattern;
}

void write_plain(ModelReading& r, std::int64_t windows, const ExpertPlaces& places, const Keys& keys) {
  const bool slides = !r.value("window").is_null() && windows > 0;
  const bool mixed = places.dense > 0 || places.frequency > 1;
  if (slides) r.set("window_pattern", windows, mixed ? Keys{} : keys, "as layers of the file are");
  if (places.dense > 0) r.set("dense_layers", places.dense, keys);
  if (places.frequency > 1) r.set("moe_layer_frequency", places.frequency, keys);
  if (!slides && !mixed) r.ignore(keys, "all layers are alike");
}

}  // namespace

void write_layers(ModelReading& r) {
  const Keys keys = keys_of_layers(r);
  if (r.layers.empty()) return r.ignore(keys, "there are no layers");
  const auto windows = window_period(r.layers);
  const auto places = expert_places(r.layers);
  if (is_plain(r.layers) && windows && places) return write_plain(r, *windows, *places, keys);
  r.set("layer_pattern", pattern_of(r.layers), keys, "layer by layer");
  if (!r.block.parallel) return;
  if (r.cannot(keys, "unlike layers whose attention and MLP read the same input", "one after the other"))
    r.set("parallel_block", false, "one after the other");
}

}  // namespace orrery::importers::models
