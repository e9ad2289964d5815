#include "workloads/models/layer_counts.hpp"

#include <algorithm>

namespace orrery {
namespace {

LayerContent plain(const Model& model) {
  return {LayerAttention::full, LayerMlp::dense, model.heads, model.kv_heads, model.ffn_hidden, false, false};
}

/// Counts layers if a pattern describes each of them.
std::vector<LayerCount> count_each(const Model& model) {
  std::vector<LayerCount> counts;
  const auto add = [&](const LayerContent& content, std::int64_t layers) {
    const auto known = std::ranges::find(counts, content, &LayerCount::content);
    if (known == counts.end()) return counts.push_back({content, layers});
    known->layers += layers;
  };
  for (std::int64_t layer = 0; layer < model.layers; ++layer) add(model.layer(layer), 1);
  add(model.layer(model.layers - 1), model.multi_token_prediction);
  return counts;
}

/// Splits the layers into two contents: `layers` of them have content `some`, the others `rest`. The layers
/// of multi-token prediction all follow `last_is_some`.
std::vector<LayerCount> split(const Model& model, const LayerContent& rest, const LayerContent& some,
                              std::int64_t layers, bool last_is_some) {
  const std::int64_t further = model.multi_token_prediction;
  const std::int64_t all = model.layers + further;
  const std::int64_t of_some = layers + (last_is_some ? further : 0);
  return {{rest, all - of_some}, {some, of_some}};
}

std::vector<LayerCount> count_stacks(const Model& model) {
  return {{model.layer(0), model.encoder_layers}, {model.layer(model.encoder_layers), model.layers}};
}

}  // namespace

std::vector<LayerCount> layers_by_attention(const Model& model) {
  if (model.encoder_layers > 0) return count_stacks(model);
  if (!model.layer_pattern.empty()) return count_each(model);
  LayerContent content = plain(model);
  const LayerContent full = content;
  content.attention = LayerAttention::window;
  return split(model, full, content, model.windowed_layers(), model.windowed(model.layers - 1));
}

std::vector<LayerCount> layers_by_mlp(const Model& model) {
  if (model.encoder_layers > 0) return count_stacks(model);
  if (!model.layer_pattern.empty()) return count_each(model);
  LayerContent content = plain(model);
  const LayerContent dense = content;
  content.mlp = LayerMlp::experts;
  return split(model, dense, content, model.moe_layers(), model.has_experts(model.layers - 1));
}

}  // namespace orrery
