// Builds gated delta nets (Yang, Kautz, Hatamizadeh 2025, "Gated Delta Networks"), as in Qwen3-Next: products
// make queries, keys, values, the gate of the output, and decay and strength of each value head; queries,
// keys and values pass a short convolution; the state of each value head is decayed and corrected by the
// value found for a key, and a gated norm follows. Tensor ranks share heads.
#include <algorithm>

#include "workloads/models/recurrences.hpp"

namespace orrery {

/// Computes in chunks of 64 tokens as in flash-linear-attention (chunk_gated_delta_rule): scores of keys with
/// keys, the triangular matrix solved, its products with keys and values, the correction by the state, the
/// new state, and the outputs of queries, from the state and inside the chunk. FLOPs as in Megatron-LM: the
/// convolution, and four products of a state with a vector. Kept are the output of the first product, that of
/// the convolution, normed queries and keys, the solved matrices, and the output of the state.
Recurrence gated_delta_net_recurrence(const Model& model, std::int64_t ranks) {
  const std::int64_t chunk = std::min<std::int64_t>(64, model.attended_length());
  const GatedDeltaNet& g = model.gated_delta_net;
  const std::int64_t heads = divide_up(g.value_heads, ranks);
  const std::int64_t keys = divide_up(g.key_heads, ranks) * g.key_dim;
  const std::int64_t values = heads * g.value_dim;
  Recurrence r;
  r.convolved = 2 * keys + values;
  r.conv_kernel = g.conv_kernel;
  r.input_width = r.convolved + values + 2 * heads;
  r.output_width = values;
  // Convolution without biases; decay and its bias of each head; one gain for each value of a head.
  r.small_parameters = r.convolved * g.conv_kernel + 2 * heads + g.value_dim;
  r.tensors = 7;
  r.state_values = heads * g.key_dim * g.value_dim;
  r.kept_width = r.input_width + r.convolved + 2 * keys + chunk * heads + values;
  r.flops_per_token = 2 * g.conv_kernel * r.convolved + 8 * r.state_values;
  r.chunk = chunk;
  r.products = {{heads, chunk, chunk, g.key_dim},       {heads, chunk, chunk, chunk},
                {heads, chunk, g.key_dim, chunk},       {heads, chunk, g.value_dim, chunk},
                {heads, chunk, g.value_dim, g.key_dim}, {heads, g.key_dim, g.value_dim, chunk},
                {heads, chunk, g.value_dim, g.key_dim}, {heads, chunk, chunk, g.key_dim},
                {heads, chunk, g.value_dim, chunk}};
  return r;
}

}  // namespace orrery
