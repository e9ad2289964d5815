// Layers whose sizes are not those of the model: written by a transformer of which they are all.
#include <utility>

#include "workloads/models/transformer.hpp"

namespace orrery {
namespace {

/// Whose layers are all of that content, as far as sizes go.
Experiment variant_of(const Experiment& experiment, const LayerContent& content) {
  Experiment variant = experiment;
  Model& model = variant.model;
  model.layer_pattern.clear();
  model.heads = content.heads;
  model.kv_heads = content.kv_heads;
  model.ffn_hidden = content.ffn_hidden;
  model.encoder_layers = 0;
  if (content.encodes) model.seq_length = model.encoder_seq_length;
  return variant;
}

}  // namespace

Transformer::Transformer(const Experiment& experiment, bool encodes)
    : model_(experiment.model),
      plan_(experiment.plan),
      experiment_(experiment),
      software_(experiment.software),
      shape_(model_, plan_),
      products_(model_.lora_rank, shape_.element, plan_.frozen_precision, weights_cast_once(experiment),
                software_),
      encodes_(encodes),
      shared_(shared_attention(CommunicatorSpec(plan_))),
      kinds_(model_, plan_) {
  for (const LayerKind& kind : kinds_.list()) {
    if (!of(kind.content).has_sizes_of(kind.content))
      variants_.push_back(
          std::make_unique<LayerVariant>(variant_of(experiment, kind.content), kind.content.encodes));
  }
}

Transformer::~Transformer() = default;

bool Transformer::has_sizes_of(const LayerContent& content) const {
  return content.heads == model_.heads && content.kv_heads == model_.kv_heads &&
         content.ffn_hidden == model_.ffn_hidden && content.encodes == encodes_;
}

const Transformer& Transformer::of(const LayerContent& content) const {
  for (const std::unique_ptr<LayerVariant>& variant : variants_)
    if (variant->transformer.has_sizes_of(content)) return variant->transformer;
  return *this;
}

}  // namespace orrery
