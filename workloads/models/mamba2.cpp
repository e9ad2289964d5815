// Mamba-2 (Dao, Gu 2024, "Transformers are SSMs"), as Megatron-Core's MambaMixer has it: one product makes
// gate z, input x, B, C and the time steps; x, B and C pass a short convolution; the state space follows,
// then a gated norm and the product back. Tensor ranks share heads and groups; a group that several ranks
// need is copied.
#include <algorithm>

#include "workloads/models/recurrences.hpp"

namespace orrery {

/// Computes in chunks as in section 6: scores of pairs inside a chunk (C B^T, by group), the sums weighted by
/// them, the state at the end of a chunk, and the contribution of earlier ones. FLOPs as in Megatron-LM
/// (num_floating_point_operations): 7 for each value of the state, the convolution left aside. The fused
/// kernel (mamba_split_conv1d_scan_combined) keeps the output of the first product and that of the scan for
/// the backward pass.
Recurrence mamba2_recurrence(const Model& model, std::int64_t ranks) {
  const Mamba2& m = model.mamba2;
  const std::int64_t heads = divide_up(m.heads, ranks);
  const std::int64_t groups = std::max<std::int64_t>(1, divide_up(m.groups, ranks));
  const std::int64_t inner = heads * m.head_dim;
  Recurrence r;
  r.convolved = inner + 2 * groups * m.state_dim;
  r.conv_kernel = m.conv_kernel;
  r.input_width = inner + r.convolved + heads;
  r.output_width = inner;
  // Convolution with biases; decay, skip and time-step bias of each head; gains of the norm.
  r.small_parameters = r.convolved * (m.conv_kernel + 1) + 3 * heads + inner;
  r.tensors = 8;
  r.state_values = inner * m.state_dim;
  r.kept_width = r.input_width + inner;
  r.flops_per_token = 7 * r.state_values;
  r.chunk = std::min(m.chunk, model.attended_length());
  r.products = {{groups, r.chunk, r.chunk, m.state_dim},
                {heads, r.chunk, m.head_dim, r.chunk},
                {heads, m.head_dim, m.state_dim, r.chunk},
                {heads, r.chunk, m.head_dim, m.state_dim}};
  return r;
}

}  // namespace orrery
