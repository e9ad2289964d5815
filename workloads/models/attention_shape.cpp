#include "workloads/models/attention_shape.hpp"

#include <algorithm>

#include "workloads/models/sparse_attention.hpp"

namespace orrery {
namespace {

/// Keys without positions and values, which latent attention makes head by head.
std::int64_t made_of_latent(const Model& m, Heads heads) {
  return heads.query * (m.latent_attention.nope_dim + m.latent_attention.value_dim);
}

std::int64_t latent_width(const Model& m) { return m.latent_attention.kv_rank + m.latent_attention.rope_dim; }

/// Values of the gate of a token's output, which the product of queries makes beside them.
std::int64_t gate_width(const Model& m, Heads heads) {
  return m.attention_output_gate ? output_width(m, heads) : 0;
}

std::int64_t bias_count(const Model& m, Heads heads) {
  const std::int64_t made =
      m.latent() ? 0 : query_width(m, heads) + gate_width(m, heads) + key_value_width(m, heads);
  return (m.qkv_biases ? made : 0) + (m.biases ? m.hidden : 0);
}

std::int64_t norm_count(const Model& m, Heads heads) {
  if (m.latent()) return m.latent_attention.q_rank + m.latent_attention.kv_rank;
  if (m.qk_norm == QueryKeyNorm::head) return 2 * m.head_dim;
  return m.qk_norm == QueryKeyNorm::whole ? (heads.query + heads.key_value) * m.head_dim : 0;
}

}  // namespace

std::int64_t query_width(const Model& m, Heads heads) { return heads.query * m.query_dim(); }

std::int64_t key_value_width(const Model& m, Heads heads) {
  return heads.key_value * (m.query_dim() + m.value_dim());
}

std::int64_t output_width(const Model& m, Heads heads) { return heads.query * m.value_dim(); }

std::int64_t attention_weights(const Model& m, Heads heads) {
  std::int64_t sum = m.hidden * output_width(m, heads) + indexer_weights(m);
  for (const Kernel& product : attention_inputs(m, heads, 1)) sum += product.n * product.k;
  return sum;
}

std::int64_t largest_attention_weight(const Model& m, Heads heads) {
  std::int64_t most = m.hidden * output_width(m, heads);
  for (const Kernel& product : attention_inputs(m, heads, 1)) most = std::max(most, product.n * product.k);
  return most;
}

std::int64_t attention_parameters(const Model& m, Heads heads) {
  return attention_weights(m, heads) + bias_count(m, heads) + norm_count(m, heads) + indexer_gains(m);
}

std::int64_t attention_tensors(const Model& m) {
  const auto products = static_cast<std::int64_t>(attention_inputs(m, {1, 1}, 1).size());
  const std::int64_t biases = (m.qkv_biases && !m.latent() ? 1 : 0) + (m.biases ? 1 : 0);
  const std::int64_t norms = m.latent() ? products - 2 : m.qk_norm == QueryKeyNorm::none ? 0 : 2;
  return products + 1 + biases + norms + indexer_tensors(m);
}

std::vector<Kernel> attention_inputs(const Model& m, Heads heads, std::int64_t tokens) {
  const std::int64_t queries = query_width(m, heads);
  if (!m.latent())
    return {gemm(tokens, queries + gate_width(m, heads) + key_value_width(m, heads), m.hidden)};
  const LatentAttention& latent = m.latent_attention;
  const Kernel narrow = gemm(tokens, latent_width(m), m.hidden);
  const Kernel wide = gemm(tokens, made_of_latent(m, heads), latent.kv_rank);
  if (latent.q_rank == 0) return {gemm(tokens, queries, m.hidden), narrow, wide};
  return {gemm(tokens, latent.q_rank, m.hidden), narrow, gemm(tokens, queries, latent.q_rank), wide};
}

std::vector<Kernel> latent_projections(const Model& m, Heads heads, std::int64_t tokens) {
  if (!m.latent()) return {};
  std::vector<Kernel> products = attention_inputs(m, heads, tokens);
  return {products.begin() + 2,
          products.end()};  // skips the products that make latent vectors, or queries directly
}

std::int64_t normalised_width(const Model& m, Heads heads) {
  if (m.latent()) return m.latent_attention.q_rank + m.latent_attention.kv_rank;
  return m.qk_norm == QueryKeyNorm::none ? 0 : (heads.query + heads.key_value) * m.head_dim;
}

/// Norms keep their input, and where latent vectors follow them their output.
std::int64_t attention_width_kept(const Model& m, Heads heads) {
  const std::int64_t made = query_width(m, heads) + gate_width(m, heads) + key_value_width(m, heads);
  return made + (m.latent() ? 2 : 1) * normalised_width(m, heads) + sparse_width_kept(m, heads);
}

std::int64_t attention_width_for_weights(const Model& m, Heads heads) {
  std::int64_t sum = m.latent() ? normalised_width(m, heads) : 0;
  for (const Kernel& product : attention_inputs(m, heads, 1)) sum += product.n;
  for (const Kernel& product : indexer_inputs(m, 1)) sum += product.n;
  return sum;
}

std::int64_t projected_width(const Model& m, Heads heads) {
  if (!m.latent()) return 0;
  return key_value_width(m, heads) + (m.latent_attention.q_rank > 0 ? query_width(m, heads) : 0);
}

std::int64_t latent_projection_weights(const Model& m, Heads heads) {
  std::int64_t sum = 0;
  for (const Kernel& product : latent_projections(m, heads, 1)) sum += product.n * product.k;
  return sum;
}

Flops core_flops(const Model& m, std::int64_t heads, std::int64_t others) {
  if (m.is_sparse()) return sparse_core_flops(m, heads, others);
  return 2 * others * heads * (m.query_dim() + m.value_dim());
}

}  // namespace orrery
