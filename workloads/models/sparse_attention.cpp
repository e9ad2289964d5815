#include "workloads/models/sparse_attention.hpp"

#include <algorithm>

namespace orrery {
namespace {

constexpr Bytes kScore = 4;   ///< bytes
constexpr Bytes kChoice = 4;  ///< bytes of the number of a token

bool has_indexer(const Model& m) { return m.indexer.top_k > 0; }

/// Width from which the indexer makes its queries.
std::int64_t query_source(const Model& m) {
  return m.latent_attention.q_rank > 0 ? m.latent_attention.q_rank : m.hidden;
}

std::int64_t latent_width(const Model& m) { return m.latent_attention.kv_rank + m.latent_attention.rope_dim; }

/// Returns the FLOPs of one query of the indexer and one key, over its heads.
Flops score_flops(const Model& m) { return 2 * m.indexer.heads * m.indexer.head_dim; }

/// Returns the FLOPs of a query and a chosen token, over the heads. The latent vector of the token is both
/// key and value.
Flops chosen_flops(const Model& m, std::int64_t heads) {
  return 2 * heads * (latent_width(m) + m.latent_attention.kv_rank);
}

/// Scores like those of attention, without values: queries and keys of 8 bits, scores of 32.
Kernel scores(const Model& m, const SparseSpan& span) {
  Kernel kernel{Kernel::Kind::attention,
                m.indexer.heads,
                span.tokens,
                divide_up(span.pairs, span.tokens),
                m.indexer.head_dim,
                0,
                0};
  kernel.bytes = span.tokens * m.indexer.heads * m.indexer.head_dim + kScore * span.pairs;
  kernel.flops = span.pairs * score_flops(m);
  return kernel;
}

/// Heads of a query share the latent vectors that they gather.
Kernel gathered(const Model& m, std::int64_t heads, const SparseSpan& span, Bytes element) {
  Kernel kernel{Kernel::Kind::attention, span.tokens, heads, divide_up(span.chosen, span.tokens),
                latent_width(m),         0,           0};
  const std::int64_t own = span.tokens * heads * (latent_width(m) + m.latent_attention.kv_rank);
  kernel.bytes = (own + span.chosen * latent_width(m)) * element + kChoice * span.chosen;
  kernel.flops = span.chosen * chosen_flops(m, heads);
  return kernel;
}

}  // namespace

std::vector<Kernel> indexer_inputs(const Model& m, std::int64_t tokens) {
  if (!has_indexer(m)) return {};
  return {gemm(tokens, m.indexer.heads * m.indexer.head_dim, query_source(m)),
          gemm(tokens, m.indexer.head_dim, m.hidden), gemm(tokens, m.indexer.heads, m.hidden)};
}

std::int64_t indexer_weights(const Model& m) {
  std::int64_t sum = 0;
  for (const Kernel& product : indexer_inputs(m, 1)) sum += product.n * product.k;
  return sum;
}

std::int64_t indexer_gains(const Model& m) { return has_indexer(m) ? 2 * m.indexer.head_dim : 0; }

std::int64_t indexer_tensors(const Model& m) { return has_indexer(m) ? 5 : 0; }

Bytes indexer_cache_bytes(const Model& m) {
  return has_indexer(m) ? m.indexer.head_dim + 4 * divide_up(m.indexer.head_dim, 128) : 0;
}

std::int64_t sparse_width_kept(const Model& m, Heads heads) {
  if (!m.is_sparse()) return 0;
  const std::int64_t own = m.indexer.head_dim * (m.indexer.heads + 1) + 2 * m.indexer.top_k;
  return own + 2 * heads.query * m.latent_attention.kv_rank - key_value_width(m, heads);
}

Flops sparse_core_flops(const Model& m, std::int64_t heads, std::int64_t others) {
  return others * score_flops(m) + std::min(others, m.indexer.top_k) * chosen_flops(m, heads);
}

std::vector<Kernel> sparse_kernels(const Model& m, std::int64_t heads, const SparseSpan& span,
                                   Bytes element) {
  return {scores(m, span), memory(kScore * span.pairs + kChoice * span.chosen),
          gathered(m, heads, span, element)};
}

std::vector<Kernel> sparse_kernels_backward(const Model& m, std::int64_t heads, const SparseSpan& span,
                                            Bytes element) {
  Kernel core = gathered(m, heads, span, element);  // five products in place of two: scores are made again
  core.flops = core.flops / 2 * 5;
  core.bytes *= 2;
  core.backward = true;
  SparseSpan learned = span;
  learned.pairs = span.chosen;
  Kernel index = scores(m, learned);
  index.flops *= 2;
  index.bytes *= 2;
  index.backward = true;
  return {core, index};
}

}  // namespace orrery
