#include "config/experiment/size_bounds.hpp"

#include <algorithm>
#include <cstddef>

#include "workloads/lowering/lower.hpp"

namespace orrery {
namespace {

constexpr double kMostWeights = 9e18;  // that 64-bit integers count

/// The most that a layer has.
double most(const Model& m, std::int64_t LayerRun::*of_run, std::int64_t of_all) {
  for (const LayerRun& run : m.layer_pattern) of_all = std::max(of_all, run.*of_run);
  return real(of_all);
}

double heads(const Model& m) { return most(m, &LayerRun::heads, m.heads); }

double ffn(const Model& m) { return most(m, &LayerRun::ffn_hidden, m.ffn_hidden); }

double longest(const Model& m) { return real(std::max(m.seq_length, m.encoder_seq_length)); }

/// Weights of the largest of the matrices of an mlp chain.
double largest_matrix(const Model& m) {
  double largest = 0;
  for (std::size_t i = 0; i + 1 < m.widths.size(); ++i)
    largest = std::max(largest, real(m.widths[i]) * real(m.widths[i + 1]));
  return largest;
}

/// Returns the weights of `experts` experts of a layer.
double expert_weights(const Model& m, double experts) {
  return 3 * experts * real(m.hidden) * real(m.expert_ffn_hidden);
}

/// Values that a layer which recurs makes of a token, at most, and those of its state.
double recurrent_width(const Model& m) {
  const Mamba2& mamba = m.mamba2;
  const GatedDeltaNet& net = m.gated_delta_net;
  const double of_mamba =
      3 * real(mamba.heads) * (real(mamba.head_dim) + 1) + 2 * real(mamba.groups) * real(mamba.state_dim);
  const double of_net =
      2 * real(net.key_heads) * real(net.key_dim) + 3 * real(net.value_heads) * (real(net.value_dim) + 1);
  return (mamba.heads > 0 ? of_mamba : 0) + (net.key_heads > 0 ? of_net : 0);
}

double recurrent_state(const Model& m) {
  return real(m.mamba2.heads) * real(m.mamba2.head_dim) * real(m.mamba2.state_dim) +
         real(m.gated_delta_net.value_heads) * real(m.gated_delta_net.key_dim) *
             real(m.gated_delta_net.value_dim);
}

double indexer_width(const Model& m) {
  return m.indexer.top_k > 0 ? (real(m.indexer.heads) + 1) * (real(m.indexer.head_dim) + 1) : 0;
}

/// Weights of one layer at most, without experts.
double dense_weights(const Model& m) {
  if (m.kind == ModelKind::convnet) return real(m.parameters) / real(m.layers);
  if (m.kind == ModelKind::mlp) return largest_matrix(m);
  const double ranks = real(m.latent_attention.q_rank + m.latent_attention.kv_rank);
  const double attention = 3 * (heads(m) + most(m, &LayerRun::kv_heads, m.kv_heads)) * real(m.head_dim) +
                           2 * ranks + recurrent_width(m) + indexer_width(m);
  const double from_latent = ranks * heads(m) * real(m.query_dim() + m.value_dim());
  const double adapters = real(m.lora_rank) * (4 * real(m.hidden) + attention + 3 * real(m.ffn_hidden));
  const double cross = m.encoder_layers > 0 ? 2 : 1;  // with cross-attention
  return real(m.hidden) * (cross * attention + 3 * ffn(m) + real(m.experts)) + adapters + from_latent;
}

/// Rows that a token becomes at experts, on the rank that gets most, at most.
double routed_rows(const Experiment& e) {
  const bool even = e.plan.token_imbalance == TokenImbalance::uniform;
  return (even ? 1 : real(e.plan.expert_parallel)) * real(e.model.experts_per_token);
}

/// Values of these rows.
double routed_width(const Experiment& e) {
  return routed_rows(e) * (4 * real(e.model.hidden) + 4 * real(e.model.expert_ffn_hidden));
}

/// Returns the most weights of a layer that a token uses: of the experts, those it is sent to.
double met_weights(const Experiment& e) {
  return dense_weights(e.model) + expert_weights(e.model, routed_rows(e) + real(e.model.shared_experts));
}

/// Exactly, where that stays within 64 bits.
double weights_of_model(const Model& m) {
  double weights =
      all_layers(m) * (dense_weights(m) + expert_weights(m, real(m.experts + m.shared_experts))) +
      real(m.other_parameters);
  const double depths = 2 * real(m.multi_token_prediction) * real(m.hidden);
  if (m.attends()) weights += real(m.hidden) * (2 * real(m.vocab) + real(m.max_positions) + depths);
  return weights <= kMostWeights ? real(parameter_count(m)) : weights;
}

/// Half of the FLOPs of attention of a token of the longest sequence in a layer, forward.
double scores_of(const Model& m) {
  const double width = std::max(real(m.head_dim), real(m.query_dim() + m.value_dim()) / 2);
  const double scored = m.indexer.top_k > 0 ? real(m.indexer.heads) * real(m.indexer.head_dim) : 0;
  const double latent = m.indexer.top_k > 0 ? 2 * heads(m) * real(m.latent_attention.kv_rank) : 0;
  // Chunks of a recurrence see at most 256 tokens, or those of model.mamba2.chunk, and the state.
  const double chunk = real(std::max<std::int64_t>(m.mamba2.chunk, 256));
  const double recurrent = 8 * (chunk * recurrent_width(m) + recurrent_state(m));
  return m.attends() ? longest(m) * (heads(m) * width + scored + latent) + recurrent : 0;
}

/// Values that a token keeps in a layer at most.
double kept_width(const Experiment& e) {
  const Model& m = e.model;
  if (!m.attends()) return 4 * real(*std::max_element(m.widths.begin(), m.widths.end()));
  const double losses = 1 + real(m.multi_token_prediction);
  const bool stored = m.attention == Attention::core;
  return 8 * real(m.hidden) + 4 * ffn(m) + 6 * heads(m) * real(m.head_dim) + 64 * recurrent_width(m) +
         2 * indexer_width(m) + 2 * real(m.indexer.top_k) + (stored ? 3 * heads(m) * longest(m) : 0) +
         4 * losses * real(m.vocab) / real(m.layers) + routed_width(e);
}

/// Adds the bytes that a GPU sends to others of its replica, for `tokens` tokens: sums over tensor ranks (24
/// all-reduces of four bytes a value are more than a layer has), keys, values and heads of context ranks,
/// rows for experts, and messages between stages.
void add_messages(const Experiment& e, double tokens, StepBounds& b) {
  const Model& m = e.model;
  const Plan& plan = e.plan;
  const double layers = (all_layers(m) + 2) / real(plan.pipeline_parallel);
  const double hidden =
      m.attends() ? real(m.hidden) : real(*std::max_element(m.widths.begin(), m.widths.end()));
  if (plan.tensor_parallel > 1) b.sent_by_tensor = 24 * 4 * 2 * tokens * layers * hidden;
  double per_layer = 0;
  if (plan.context_parallel > 1)
    per_layer += 64 * heads(m) * real(m.query_dim() + m.value_dim()) / real(plan.tensor_parallel);
  if (plan.expert_parallel > 1 || plan.expert_tensor_parallel > 1) per_layer += 16 * routed_width(e);
  b.sent_in_replica = tokens * layers * per_layer;
  if (plan.pipeline_parallel > 1)
    b.sent_in_replica += 16 * tokens * hidden * real(plan.virtual_stages) + 8 * real(m.vocab) * hidden;
}

}  // namespace

StepBounds bounds_of(const Experiment& e) {
  const Model& m = e.model;
  StepBounds b;
  b.weights = weights_of_model(m);
  b.kept_weights = kWeightBytes * b.weights;
  const double samples = real(e.plan.global_batch_size);
  const double of_replica = samples / real(e.plan.data_parallel);
  if (m.kind == ModelKind::convnet) {
    b.flops = samples * 3 * m.forward_gflops_per_sample * 1e9;
    b.layer_flops = b.flops / samples * real(e.plan.micro_batch_size);
    b.activations = 64 * of_replica * real(m.activations_per_sample);
    if (e.plan.pipeline_parallel > 1) b.sent_in_replica = b.activations;
    return b;
  }
  const double losses = 1 + real(m.multi_token_prediction);
  const double head = m.attends() ? real(m.hidden) * real(m.vocab) : 0;
  const double attention = (m.encoder_layers > 0 ? 40 : 20) * scores_of(m);
  const double of_layer =
      8 * losses * std::max(met_weights(e), head) + attention / real(e.plan.tensor_parallel);
  b.layer_flops = real(e.plan.micro_batch_size) * longest(m) * of_layer / real(e.plan.context_parallel);
  const double products = all_layers(m) * met_weights(e) + 2 * head + real(m.other_parameters);
  b.flops = samples * longest(m) * (8 * losses * products + all_layers(m) * attention);
  b.activations = 16 * of_replica * longest(m) * all_layers(m) * kept_width(e);
  add_messages(e, of_replica * longest(m), b);
  return b;
}

}  // namespace orrery
