#include "workloads/models/transformer_shape.hpp"

#include <algorithm>
#include <array>

#include "workloads/models/encoder_decoder.hpp"
#include "workloads/models/expert_shape.hpp"
#include "workloads/models/layer_counts.hpp"
#include "workloads/models/layer_products.hpp"
#include "workloads/models/recurrence.hpp"

namespace orrery {
namespace {

constexpr std::initializer_list<Linear> kAllLinears{Linear::qkv, Linear::proj, Linear::fc1, Linear::fc2};

/// Weights of the adapters of a layer (LoRA) whose cut dimensions have the given sizes.
std::int64_t adapter_count(const Model& m, std::int64_t query, std::int64_t key_value, std::int64_t ffn,
                           std::initializer_list<Linear> beside = kAllLinears) {
  const std::array<std::int64_t, kLinearCount> sides{m.hidden + query + key_value, query + m.hidden,
                                                     m.hidden + mlp_inputs(m) * ffn, ffn + m.hidden};
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

std::int64_t norms_of_attention(const Model& m) { return m.post_norms ? 2 : 1; }

std::int64_t norms_of_mlp(const Model& m) { return m.parallel_block ? 0 : norms_of_attention(m); }

std::int64_t attention_half(const Model& m, Heads heads) {
  return attention_parameters(m, heads) + norms_of_attention(m) * norm_count(m);
}

std::int64_t recurrence_half(const Model& m, TokenMixer mixer, std::int64_t ranks) {
  return recurrence_of(mixer, m, ranks).parameters(m) + norms_of_attention(m) * norm_count(m);
}

/// Returns the parameters of an MLP, or of the mixture of experts in its place.
std::int64_t mlp_half(const Model& m, const LayerContent& content) {
  if (content.mlp == LayerMlp::none) return 0;
  const std::int64_t inner =
      content.has_experts() ? mixture_parameters(m) : mlp_parameters(m, content.ffn_hidden);
  return inner + norms_of_mlp(m) * norm_count(m);
}

/// Returns the weights of the MLP, or of the experts that one token is sent to.
std::int64_t weights_met(const Model& m, const LayerContent& content) {
  if (content.mlp == LayerMlp::none) return 0;
  return content.has_experts() ? expert_weights_met(m) : mlp_weights(m, content.ffn_hidden);
}

/// Products with weights of all layers, forward, per sample: 2 FLOPs a weight and token that meets it.
TotalFlops weight_flops(const Model& m) {
  TotalFlops sum = TotalFlops{2} * m.seq_length * m.multi_token_prediction * projection_weights(m);
  for (const LayerCount& some : layers_by_attention(m)) {
    const LayerContent& c = some.content;
    if (c.attends())
      sum += TotalFlops{2} * some.layers * tokens_of(m, c) * attention_weights(m, {c.heads, c.kv_heads});
    if (c.recurs())
      sum += TotalFlops{2} * some.layers * tokens_of(m, c) * recurrence_of(c.mixer, m, 1).weights(m);
    if (c.crosses) sum += some.layers * cross_weight_flops(m);
  }
  for (const LayerCount& some : layers_by_mlp(m))
    sum += TotalFlops{2} * some.layers * tokens_of(m, some.content) * weights_met(m, some.content);
  return sum;
}

/// Returns the FLOPs of scores and context of all layers per sample, a causal mask left aside, and those of
/// states in their place.
TotalFlops core_flops_of_layers(const Model& m) {
  TotalFlops sum = 0;
  for (const LayerCount& some : layers_by_attention(m)) {
    const LayerContent& c = some.content;
    if (c.attends())
      sum += TotalFlops{some.layers} * tokens_of(m, c) * core_flops(m, c.heads, others_of(m, c));
    if (c.recurs())
      sum += TotalFlops{some.layers} * tokens_of(m, c) * recurrence_of(c.mixer, m, 1).flops_per_token;
    if (c.crosses) sum += some.layers * cross_core_flops(m);
  }
  return sum;
}

}  // namespace

std::int64_t others_of(const Model& m, const LayerContent& content) {
  if (content.encodes) return m.encoder_seq_length;
  return content.windowed() ? std::min(m.window, m.attended_length()) : m.attended_length();
}

std::int64_t projection_weights(const Model& m) { return 2 * m.hidden * m.hidden; }

std::int64_t transformer_parameters(const Model& m) {
  std::int64_t layers = 0;
  for (const LayerCount& some : layers_by_attention(m)) {
    const std::int64_t halves = (some.content.attends() ? 1 : 0) + (some.content.crosses ? 1 : 0);
    layers += some.layers * halves * attention_half(m, {some.content.heads, some.content.kv_heads});
    if (some.content.recurs()) layers += some.layers * recurrence_half(m, some.content.mixer, 1);
  }
  for (const LayerCount& some : layers_by_mlp(m)) layers += some.layers * mlp_half(m, some.content);
  const std::int64_t depths = m.multi_token_prediction * (projection_weights(m) + 3 * norm_count(m));
  const std::int64_t tables = m.vocab * m.hidden * (m.tied_embeddings ? 1 : 2) +
                              (m.positions == Positions::learned ? m.max_positions * m.hidden : 0);
  const std::int64_t stacks = m.encoder_layers > 0 ? 2 : 1;
  return layers + depths + adapters_of_model(m) + stacks * (norm_count(m) + relative_positions(m, m.heads)) +
         tables + m.other_parameters;
}

TotalFlops transformer_model_flops(const Model& m, std::int64_t samples) {
  const std::int64_t losses = 1 + m.multi_token_prediction;
  const TotalFlops weights = weight_flops(m) + TotalFlops{2} * m.seq_length * losses * m.hidden * m.vocab;
  const TotalFlops trained = core_flops_of_layers(m) + TotalFlops{2} * m.seq_length * adapters_of_model(m);
  return samples * ((m.lora_rank > 0 ? 2 : 3) * weights + 3 * trained);
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
  return attention_half_parameters() + mlp_half_parameters() + adapter_parameters();
}

std::int64_t TransformerShape::attention_half_parameters() const {
  return attention_half(model_, own_heads());
}

std::int64_t TransformerShape::recurrence_half_parameters(TokenMixer mixer) const {
  return recurrence_half(model_, mixer, tensor);
}

std::int64_t TransformerShape::recurrence_half_tensors(TokenMixer mixer) const {
  return recurrence_of(mixer, model_, tensor).tensors + norms_of_attention(model_) * tensors_per_norm(model_);
}

std::int64_t TransformerShape::mlp_half_parameters() const {
  return mlp_norm_parameters() + mlp_parameters(model_, ffn);
}

std::int64_t TransformerShape::mlp_norm_parameters() const {
  return norms_of_mlp(model_) * norm_count(model_);
}

std::int64_t TransformerShape::adapter_parameters() const {
  return adapter_count(model_, heads * model_.head_dim, 2 * kv_heads * model_.head_dim, ffn);
}

std::int64_t TransformerShape::adapters() const {
  return model_.lora_rank > 0 ? std::ranges::count(model_.lora_targets, true) : 0;
}

std::int64_t TransformerShape::adapter_tensors() const { return 2 * adapters(); }

std::int64_t TransformerShape::embedding_parameters() const {
  return vocab * model_.hidden + relative_positions(model_, heads) +
         (model_.positions == Positions::learned ? model_.max_positions * model_.hidden : 0);
}

std::int64_t TransformerShape::head_parameters() const {
  return norm_count(model_) + model_.other_parameters + (model_.tied_embeddings ? 0 : vocab * model_.hidden);
}

std::int64_t TransformerShape::layer_tensors() const {
  return attention_half_tensors() + mlp_half_tensors() + adapter_tensors();
}

std::int64_t TransformerShape::attention_half_tensors() const {
  return attention_tensors(model_) + norms_of_attention(model_) * tensors_per_norm(model_);
}

std::int64_t TransformerShape::mlp_half_tensors() const {
  return mlp_norm_tensors() + 2 * (model_.biases ? 2 : 1);
}

std::int64_t TransformerShape::mlp_norm_tensors() const {
  return norms_of_mlp(model_) * tensors_per_norm(model_);
}

std::int64_t TransformerShape::final_norm_parameters() const { return norm_count(model_); }

std::int64_t TransformerShape::final_norm_tensors() const { return tensors_per_norm(model_); }

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

/// Adds queries, keys, values and context; fused attention needs its output as well. Latent attention can
/// recompute its inputs from its latent vectors.
void TransformerShape::add_attention(ActivationSum& sum) const {
  using enum Module;
  constexpr auto kStream = ActivationKind::residual;
  constexpr auto kAttention = ActivationKind::attention;
  const Bytes stream = cut_residual();
  const bool normalised = keeps_input(Linear::qkv) || (model_.parallel_block && keeps_input(Linear::fc1));
  sum.add_input(stream);
  if (normalised) sum.add_product_input(kStream, stream, {norm, operations});
  if (model_.post_norms) sum.add(kStream, stream, {attention});
  sum.add(kStream, dropout_mask());
  const std::int64_t projected = projected_width(model_, own_heads());
  sum.add(kAttention, tokens * projected * element, {attention, latent_projection});
  const std::int64_t keys = model_.latent() ? 0 : kv_heads * model_.query_dim();
  // Norms of latent vectors keep their input; the products after them keep the norms' output.
  const std::int64_t latents = model_.latent() ? normalised_width(model_, own_heads()) : 0;
  const std::int64_t rest = attention_width_kept(model_, own_heads()) - latents - projected - keys;
  sum.add(kAttention, tokens * rest * element, {attention});
  sum.add_product_input(kAttention, tokens * latents * element, {attention});
  sum.add(kAttention, tokens * keys * element, {attention, operations});
  // Fused attention needs its output as it is, the product after it as all products need their inputs.
  const bool fused = model_.attention == Attention::flash;
  const Bytes context = tokens * output_width(model_, own_heads()) * element;
  // The core alone needs it as it is, where the product reads it cast or gated.
  const bool casts = keeps_input(Linear::proj) && (sum.narrows() || model_.attention_output_gate);
  if (fused)
    sum.add(kAttention, context, casts ? ModuleSet{attention, core_attention} : ModuleSet{attention});
  if (keeps_input(Linear::proj) && (!fused || casts)) sum.add_product_input(kAttention, context, {attention});
  sum.add(kAttention, adapter_activations({Linear::qkv, Linear::proj}), {attention});
  const std::int64_t scores = tokens * model_.seq_length * heads;
  const Bytes core = model_.attention == Attention::flash
                         ? tokens * heads * 4  // log-sum-exp
                         : scores * (model_.dropout ? 2 * element + 1 : element);
  sum.add(kAttention, core, {attention, core_attention});
}

/// Input and output of the activation.
void TransformerShape::add_mlp(ActivationSum& sum, bool first) const {
  using enum Module;
  constexpr auto kStream = ActivationKind::residual;
  constexpr auto kMlp = ActivationKind::mlp;
  const Bytes stream = cut_residual();
  if (!model_.parallel_block) {
    first ? sum.add_input(stream) : sum.add(kStream, stream, {operations});
    if (keeps_input(Linear::fc1)) sum.add_product_input(kStream, stream, {norm, operations});
    sum.add(kStream, dropout_mask());
  }
  if (model_.post_norms) sum.add(kStream, stream, {mlp});
  sum.add_activation_input(kMlp, tokens * ffn * element, {mlp});
  if (model_.gated_mlp) {
    sum.add_activation_input(kMlp, tokens * ffn * element, {mlp, operations});
    if (sum.recomputes(operations)) sum.add_input(stream);  // the output of the last product, which is odd
  }
  if (keeps_input(Linear::fc2))
    sum.add_product_input(kMlp, tokens * ffn * element, {mlp, activation, operations});
  sum.add(kMlp, adapter_activations({Linear::fc1, Linear::fc2}), {mlp});
}

/// Tensors are given back as soon as the operation that reads them has run backward: at the second product
/// none is yet, at the activation its output.
WorkspaceBytes TransformerShape::mlp_gradients() const {
  const Bytes inner = tokens * ffn * element;
  const Bytes gathered = plan_.sequence_parallel && tensor > 1 ? residual() : 0;
  WorkspaceBytes held;
  held.activation_gradients = cut_residual() + inner;
  held.communication = gathered;
  if (!model_.gated_mlp || inner <= gathered) return held;
  return {.activation_gradients = cut_residual() + 2 * inner};
}

void TransformerShape::add_for_weights(ActivationSum& sum, bool attends, bool dense_mlp) const {
  const auto trained = [&](Linear which, bool has) { return has && keeps_input(which) ? 1 : 0; };
  const std::int64_t inner = mlp_inputs(model_) * ffn;
  const Bytes hidden = tokens * model_.hidden * element;
  const std::int64_t qkv = trained(Linear::qkv, attends);
  const std::int64_t proj = trained(Linear::proj, attends);
  const std::int64_t fc1 = trained(Linear::fc1, dense_mlp);
  const std::int64_t fc2 = trained(Linear::fc2, dense_mlp);
  const std::int64_t halves = model_.parallel_block ? 1 : 2;  // that read and add up a stream of their own
  const std::int64_t read = std::min(qkv + fc1, halves);      // of which inputs are cut
  const std::int64_t summed = std::min(proj + fc2, halves);
  const std::int64_t cut = qkv * attention_width_for_weights(model_, own_heads()) +
                           proj * output_width(model_, own_heads()) + fc1 * inner + fc2 * ffn;
  sum.add_product_input(ActivationKind::for_weights,
                        read * outside(hidden) + summed * hidden + tokens * cut * element);
}

Bytes TransformerShape::eager_norm() const {
  if (model_.normalization != Normalization::rms_norm) return 0;  // layer norm is one kernel
  const Bytes values = cut_residual() / element;
  return values * (element < 4 ? 4 : 0) + (model_.lora_rank > 0 ? 0 : cut_residual());
}

void TransformerShape::add_eager_operations(const LayerContent& content, ActivationSum& sum) const {
  using enum Module;
  const std::int64_t norms = (content.mixes() ? norms_of_attention(model_) : 0) +
                             (content.mlp == LayerMlp::none ? 0 : norms_of_mlp(model_));
  sum.add(ActivationKind::residual, norms * eager_norm(), {norm, operations});
  if (content.mlp == LayerMlp::dense && model_.gated_mlp)
    sum.add(ActivationKind::mlp, tokens * ffn * element, {mlp, activation, operations});
}

Bytes TransformerShape::head_inputs() const {
  return (model_.lora_rank > 0 ? 1 : 2) * cut_residual();  // a frozen projection needs none
}

}  // namespace orrery
