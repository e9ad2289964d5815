#include "workloads/models/transformer_shape.hpp"

#include <algorithm>
#include <array>

#include "workloads/models/expert_shape.hpp"

namespace orrery {
namespace {

constexpr std::initializer_list<Linear> kAllLinears{Linear::qkv, Linear::proj, Linear::fc1, Linear::fc2};

/// Weights of the adapters of a layer (LoRA) whose cut dimensions have the given sizes.
std::int64_t adapter_count(const Model& m, std::int64_t query, std::int64_t key_value, std::int64_t ffn,
                           std::initializer_list<Linear> beside = kAllLinears) {
  const std::array<std::int64_t, kLinearCount> sides{m.hidden + query + key_value, query + m.hidden,
                                                     m.hidden + (m.gated_mlp ? 2 : 1) * ffn, ffn + m.hidden};
  std::int64_t sum = 0;
  for (const Linear matrix : beside) sum += m.adapts(matrix) ? sides[static_cast<std::size_t>(matrix)] : 0;
  return m.lora_rank * sum;
}

std::int64_t adapters_of_model(const Model& m) { return m.layers * adapter_weights(m, kAllLinears); }

/// One normalisation: a gain, and for layer norm a bias.
std::int64_t norm_count(const Model& m) {
  return m.normalization == Normalization::layer_norm ? 2 * m.hidden : m.hidden;
}

std::int64_t tensors_per_norm(const Model& m) { return m.normalization == Normalization::layer_norm ? 2 : 1; }

std::int64_t norms_per_layer(const Model& m) { return (m.parallel_block ? 1 : 2) * (m.post_norms ? 2 : 1); }

/// How many layers of each sort there are, with those of multi-token prediction, which are as the last one.
struct LayerCounts {
  explicit LayerCounts(const Model& m)
      : all(m.layers + m.multi_token_prediction),
        mixtures(m.moe_layers() + (m.has_experts(m.layers - 1) ? m.multi_token_prediction : 0)),
        windowed(m.windowed_layers() + (m.windowed(m.layers - 1) ? m.multi_token_prediction : 0)) {}

  std::int64_t all;
  std::int64_t mixtures;
  std::int64_t windowed;
};

/// Products with weights of all layers, forward, per token: 2 FLOPs a weight that it meets.
TotalFlops weight_flops_per_token(const Model& m) {
  const LayerCounts layers(m);
  const std::int64_t attention = attention_weights(m, {m.heads, m.kv_heads});
  const TotalFlops dense = TotalFlops{layers.all - layers.mixtures} * mlp_weights(m, m.ffn_hidden);
  return 2 *
         (TotalFlops{layers.all} * attention + dense + TotalFlops{layers.mixtures} * expert_weights_met(m) +
          TotalFlops{m.multi_token_prediction} * projection_weights(m));
}

/// Scores and context of all layers, a causal mask left aside.
TotalFlops core_flops_per_token(const Model& m) {
  const LayerCounts layers(m);
  const TotalFlops in_window = TotalFlops{layers.windowed} * core_flops(m, m.heads, m.window);
  return in_window + TotalFlops{layers.all - layers.windowed} * core_flops(m, m.heads, m.attended_length());
}

}  // namespace

std::int64_t projection_weights(const Model& m) { return 2 * m.hidden * m.hidden; }

std::int64_t transformer_parameters(const Model& m) {
  const LayerCounts layers(m);
  const std::int64_t layer =
      attention_parameters(m, {m.heads, m.kv_heads}) + norms_per_layer(m) * norm_count(m);
  const std::int64_t mlps = (layers.all - layers.mixtures) * mlp_parameters(m, m.ffn_hidden) +
                            layers.mixtures * mixture_parameters(m);
  const std::int64_t depths = m.multi_token_prediction * (projection_weights(m) + 3 * norm_count(m));
  const std::int64_t tables = m.vocab * m.hidden * (m.tied_embeddings ? 1 : 2) +
                              (m.positions == Positions::learned ? m.max_positions * m.hidden : 0);
  return layers.all * layer + mlps + depths + adapters_of_model(m) + norm_count(m) + tables +
         m.other_parameters;
}

TotalFlops transformer_model_flops(const Model& m, std::int64_t samples) {
  const TotalFlops tokens = TotalFlops{samples} * m.seq_length;
  const std::int64_t losses = 1 + m.multi_token_prediction;
  const TotalFlops weights = weight_flops_per_token(m) + TotalFlops{2} * losses * m.hidden * m.vocab;
  const TotalFlops trained = core_flops_per_token(m) + 2 * adapters_of_model(m);
  return tokens * ((m.lora_rank > 0 ? 2 : 3) * weights + 3 * trained);
}

std::int64_t adapter_weights(const Model& m, std::initializer_list<Linear> beside) {
  return adapter_count(m, m.heads * m.head_dim, 2 * m.kv_heads * m.head_dim, m.ffn_hidden, beside);
}

TransformerShape::TransformerShape(const Model& model, const Plan& plan)
    : tensor(plan.tensor_parallel),
      tokens(plan.micro_batch_size * model.seq_length / plan.degree(Axis::context)),
      heads(divide_up(model.heads, tensor)),
      kv_heads(divide_up(model.kv_heads, tensor)),
      ffn(divide_up(model.ffn_hidden, tensor)),
      vocab(divide_up(model.vocab, tensor)),
      element(element_bytes(plan.precision)),
      model_(model),
      plan_(plan) {}

std::int64_t TransformerShape::layer_parameters() const {
  return layer_parameters_without_mlp() + mlp_parameters(model_, ffn);
}

std::int64_t TransformerShape::layer_parameters_without_mlp() const {
  return attention_parameters(model_, own_heads()) + norms_per_layer(model_) * norm_count(model_) +
         adapter_parameters();
}

std::int64_t TransformerShape::adapter_parameters() const {
  return adapter_count(model_, heads * model_.head_dim, 2 * kv_heads * model_.head_dim, ffn);
}

std::int64_t TransformerShape::adapters() const {
  return model_.lora_rank > 0 ? std::ranges::count(model_.lora_targets, true) : 0;
}

std::int64_t TransformerShape::adapter_tensors() const { return 2 * adapters(); }

std::int64_t TransformerShape::embedding_parameters() const {
  return vocab * model_.hidden +
         (model_.positions == Positions::learned ? model_.max_positions * model_.hidden : 0);
}

std::int64_t TransformerShape::head_parameters() const {
  return norm_count(model_) + model_.other_parameters + (model_.tied_embeddings ? 0 : vocab * model_.hidden);
}

std::int64_t TransformerShape::layer_tensors() const {
  const std::int64_t mlp = 2 * (model_.biases ? 2 : 1);
  return attention_tensors(model_) + mlp + norms_per_layer(model_) * tensors_per_norm(model_) +
         adapter_tensors();
}

std::int64_t TransformerShape::head_tensors() const {
  return tensors_per_norm(model_) + (model_.tied_embeddings ? 0 : 1);
}

std::int64_t TransformerShape::depth_parameters() const {
  return 2 * model_.hidden * divide_up(model_.hidden, tensor) + 3 * norm_count(model_);
}

std::int64_t TransformerShape::depth_tensors() const { return 1 + 3 * tensors_per_norm(model_); }

Bytes TransformerShape::outside(Bytes bytes) const {
  return plan_.sequence_parallel ? bytes / tensor : bytes;
}

Bytes TransformerShape::residual() const { return tokens * model_.hidden * element; }

Bytes TransformerShape::cut_residual() const { return outside(residual()); }

Bytes TransformerShape::dropout_mask() const { return model_.dropout ? outside(tokens * model_.hidden) : 0; }

/// For the gradient of the weight, or of its adapter.
bool TransformerShape::keeps_input(Linear which) const {
  return model_.lora_rank == 0 || model_.adapts(which);
}

Bytes TransformerShape::adapter_activations(std::initializer_list<Linear> beside) const {
  std::int64_t adapters = 0;
  for (const Linear matrix : beside) adapters += model_.adapts(matrix) ? 1 : 0;
  return tokens * model_.lora_rank * adapters * element;
}

/// Queries, keys, values and context; fused attention needs its output as well. Latent attention can make
/// what it attends with from its latent vectors again.
void TransformerShape::add_attention(ActivationSum& sum) const {
  using enum Module;
  constexpr auto kStream = ActivationKind::residual;
  constexpr auto kAttention = ActivationKind::attention;
  const Bytes stream = cut_residual();
  const bool normalised = keeps_input(Linear::qkv) || (model_.parallel_block && keeps_input(Linear::fc1));
  sum.add_input(stream);
  if (normalised) sum.add(kStream, stream, {norm});
  if (model_.post_norms) sum.add(kStream, stream, {attention});
  sum.add(kStream, dropout_mask());
  const std::int64_t made = query_width(model_, own_heads()) + key_value_width(model_, own_heads());
  const std::int64_t projected = projected_width(model_, own_heads());
  sum.add(kAttention, tokens * projected * element, {attention, latent_projection});
  const std::int64_t rest = attention_width_kept(model_, own_heads()) - made + (made - projected);
  sum.add(kAttention, tokens * rest * element, {attention});
  const bool context = model_.attention == Attention::flash || keeps_input(Linear::proj);
  if (context) sum.add(kAttention, tokens * output_width(model_, own_heads()) * element, {attention});
  sum.add(kAttention, adapter_activations({Linear::qkv, Linear::proj}), {attention});
  const std::int64_t scores = tokens * model_.seq_length * heads;
  const Bytes core = model_.attention == Attention::flash
                         ? tokens * heads * 4  // log-sum-exp
                         : scores * (model_.dropout ? 2 * element + 1 : element);
  sum.add(kAttention, core, {attention, core_attention});
}

/// Input and output of the activation.
void TransformerShape::add_mlp(ActivationSum& sum) const {
  using enum Module;
  constexpr auto kStream = ActivationKind::residual;
  constexpr auto kMlp = ActivationKind::mlp;
  const Bytes stream = cut_residual();
  if (!model_.parallel_block) {
    sum.add(kStream, stream);
    if (keeps_input(Linear::fc1)) sum.add(kStream, stream, {norm});
    sum.add(kStream, dropout_mask());
  }
  if (model_.post_norms) sum.add(kStream, stream, {mlp});
  sum.add(kMlp, tokens * (model_.gated_mlp ? 2 : 1) * ffn * element, {mlp});
  if (keeps_input(Linear::fc2)) sum.add(kMlp, tokens * ffn * element, {mlp, activation});
  sum.add(kMlp, adapter_activations({Linear::fc1, Linear::fc2}), {mlp});
}

Bytes TransformerShape::mlp_activations_for_weights() const {
  return cut_residual() + tokens * (model_.hidden + (model_.gated_mlp ? 3 : 2) * ffn) * element;
}

Bytes TransformerShape::layer_activations_for_weights() const {
  const auto trained = [&](Linear which) { return keeps_input(which) ? 1 : 0; };
  const std::int64_t inner = (model_.gated_mlp ? 2 : 1) * ffn;
  const Bytes hidden = tokens * model_.hidden * element;
  const std::int64_t streams = trained(Linear::qkv) + trained(Linear::fc1);  // of which inputs are cut
  const std::int64_t read = model_.parallel_block ? std::min<std::int64_t>(streams, 1) : streams;
  const std::int64_t written = trained(Linear::proj) + trained(Linear::fc2);
  const std::int64_t summed = model_.parallel_block ? std::min<std::int64_t>(written, 1) : written;
  const std::int64_t cut = trained(Linear::qkv) * attention_width_kept(model_, own_heads()) +
                           trained(Linear::proj) * output_width(model_, own_heads()) +
                           trained(Linear::fc1) * inner + trained(Linear::fc2) * ffn;
  return read * outside(hidden) + summed * hidden + tokens * cut * element;
}

Bytes TransformerShape::head_activations() const {
  const std::int64_t inputs = model_.lora_rank > 0 ? 1 : 2;  // a frozen projection needs none
  return inputs * cut_residual() + tokens * vocab * 4;
}

}  // namespace orrery
