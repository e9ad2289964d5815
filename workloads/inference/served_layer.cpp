#include "workloads/inference/served_layer.hpp"

#include <algorithm>
#include <cmath>

#include "workloads/programs/stages.hpp"

namespace orrery {
namespace {

/// Bytes of 256 values.
std::int64_t stored_bytes_of_256(const Inference& inference, Precision precision) {
  switch (inference.weights) {
    case WeightStorage::as_computed:
      return 8 * bytes_of_32(precision);
    case WeightStorage::fp8:
    case WeightStorage::int8:
      return 256;
    case WeightStorage::fp4:
      return 8 * bytes_of_32(Precision::fp4);
    case WeightStorage::int4:
      break;
  }
  return 128 + 2 * 2 + 1;
}

/// Only sizes are asked for: whatever is trained or dropped is of no matter.
Model with_layers_like(const Model& model, const LayerContent& content) {
  Model like = model;
  like.heads = content.heads;
  like.kv_heads = content.kv_heads;
  like.ffn_hidden = content.ffn_hidden;
  like.lora_rank = 0;
  like.dropout = false;
  like.multi_token_prediction = 0;
  return like;
}

}  // namespace

Bytes stored_bytes(std::int64_t values, const Inference& inference, Precision precision) {
  return divide_up(values * stored_bytes_of_256(inference, precision), 256);
}

double stored_width(const Inference& inference, Precision precision) {
  return static_cast<double>(stored_bytes_of_256(inference, precision)) / 256;
}

double cached_width(const Inference& inference) {
  return static_cast<double>(bytes_of_32(inference.kv_precision)) / 32;
}

ServedLayer::ServedLayer(const Experiment& experiment, const LayerContent& content)
    : content_(content),
      model_(with_layers_like(experiment.model, content)),
      plan_(experiment.plan),
      heads_(TransformerShape(model_, plan_).own_heads()) {}

TransformerShape ServedLayer::shape(std::int64_t tokens) const {
  TransformerShape shape(model_, plan_);
  shape.tokens = tokens;
  return shape;
}

std::int64_t ServedLayer::cached_values() const {
  if (!content_.attends()) return 0;
  if (model_.latent()) return model_.latent_attention.kv_rank + model_.latent_attention.rope_dim;
  return key_value_width(model_, heads_);
}

Bytes ServedLayer::state_bytes() const { return content_.recurs() ? recurrence().state_bytes() : 0; }

std::int64_t ServedLayer::matrix_parameters() const {
  const TransformerShape shape(model_, plan_);
  std::int64_t sum = content_.attends() ? attention_weights(model_, heads_) : 0;
  if (content_.recurs()) sum += recurrence().weights(model_);
  if (content_.has_experts()) {
    const ExpertShape experts(model_, plan_, shape);
    sum += experts.experts * mlp_weights(model_, experts.ffn) + mlp_weights(model_, experts.shared_ffn);
  } else if (content_.mlp == LayerMlp::dense) {
    sum += mlp_weights(model_, shape.ffn);
  }
  return sum;
}

std::int64_t ServedLayer::parameters() const {
  const TransformerShape shape(model_, plan_);
  std::int64_t sum = content_.attends() ? shape.attention_half_parameters() : 0;
  if (content_.recurs()) sum += shape.recurrence_half_parameters(content_.mixer);
  if (content_.has_experts()) {
    const ExpertShape experts(model_, plan_, shape);
    sum += shape.mlp_norm_parameters() + experts.parameters() + experts.expert_parameters();
  } else if (content_.mlp == LayerMlp::dense) {
    sum += shape.mlp_half_parameters();
  }
  return sum;
}

std::int64_t ServedLayer::other_parameters() const { return parameters() - matrix_parameters(); }

bool ServedLayer::experts_in_tensor_group() const {
  return plan_.expert_parallel * plan_.expert_tensor_parallel <= plan_.tensor_parallel;
}

std::int64_t experts_hit(const Model& model, std::int64_t experts_of_rank, double tokens) {
  const double missed = 1 - static_cast<double>(model.experts_per_token) / static_cast<double>(model.experts);
  const double hit = static_cast<double>(experts_of_rank) * (1 - std::pow(missed, tokens));
  return std::max<std::int64_t>(1, std::llround(hit));
}

ServedModel::ServedModel(const Experiment& experiment) {
  const ModelBlocks blocks = model_family(experiment.model.kind).describe(experiment);
  const auto kind_of = [this, &experiment](const LayerContent& content) {
    const auto found = std::ranges::find(kinds_, content, &ServedLayer::content);
    const auto at = static_cast<std::size_t>(found - kinds_.begin());
    if (found == kinds_.end()) kinds_.emplace_back(experiment, content);
    return at;
  };
  for (std::int64_t layer = 0; layer < experiment.model.layers; ++layer)
    kind_of(experiment.model.layer(layer));
  const Stages placed(experiment, blocks);
  for (const Stage& stage : placed.list()) {
    ServedStage& served = stages_.emplace_back();
    served.layers.resize(kinds_.size(), 0);
    for (const Chunk& chunk : stage.chunks) {
      for (const PlacedBlock& block : chunk.blocks) {
        const auto kind = static_cast<std::int32_t>(block.kind);
        served.embeds = served.embeds || kind == blocks.embedding;
        served.has_head = served.has_head || kind == blocks.head;
        if (block.layer >= 0 && block.layer < experiment.model.layers)
          ++served.layers[kind_of(experiment.model.layer(block.layer))];
      }
    }
  }
}

}  // namespace orrery
