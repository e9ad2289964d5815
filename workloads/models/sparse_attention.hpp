// Adds to latent attention the choice of tokens by an indexer (DeepSeek-AI 2025, "DeepSeek-V3.2", section
// 2.1). The indexer is whole on every tensor rank. All sizes are 0 if a model has none.
#pragma once

#include <vector>

#include "workloads/models/attention_shape.hpp"

namespace orrery {

/// Weights of the indexer: queries of its heads from the latent vector of queries, one key for all heads and
/// the weight of each head from the residual stream. Gains and biases of the norm of its key.
[[nodiscard]] std::int64_t indexer_weights(const Model& model);
[[nodiscard]] std::int64_t indexer_gains(const Model& model);
[[nodiscard]] std::int64_t indexer_tensors(const Model& model);
[[nodiscard]] std::vector<Kernel> indexer_inputs(const Model& model, std::int64_t tokens);
/// Bytes of the cache that a token's key of the indexer takes: 8 bits a value, with a scale of 32 for 128
/// values.
[[nodiscard]] Bytes indexer_cache_bytes(const Model& model);

/// Values that a token keeps more than dense latent attention: queries and key of the indexer, the chosen
/// tokens, and queries and outputs in the width of the latent vector in place of keys and values of each
/// head. May be less than 0.
[[nodiscard]] std::int64_t sparse_width_kept(const Model& model, Heads heads);
/// FLOPs of a token: scores of the indexer over `others` tokens, and attention of `heads` heads to the latent
/// vectors of the chosen ones.
[[nodiscard]] Flops sparse_core_flops(const Model& model, std::int64_t heads, std::int64_t others);

/// Kernels of `tokens` queries that have `pairs` tokens before them together, and attend to `chosen` of
/// those.
struct SparseSpan {
  std::int64_t tokens = 0;
  std::int64_t pairs = 0;
  std::int64_t chosen = 0;
};
[[nodiscard]] std::vector<Kernel> sparse_kernels(const Model& model, std::int64_t heads,
                                                 const SparseSpan& span, Bytes element);
/// Returns the kernels of the backward pass. The indexer learns only from the chosen tokens.
[[nodiscard]] std::vector<Kernel> sparse_kernels_backward(const Model& model, std::int64_t heads,
                                                          const SparseSpan& span, Bytes element);

}  // namespace orrery
