// Describes recurrent layers, which mix tokens in a state of fixed size in place of attention. A kind of
// layer is a file with the sizes and work of one tensor rank (mamba2.cpp, gated_delta_net.cpp); training
// passes, prefill, decode, memory and FLOPs are written from that alone.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/model.hpp"
#include "workloads/models/activation_sum.hpp"
#include "workloads/models/sub_blocks.hpp"

namespace orrery {

/// Products A (m x k) by B (k x n) that a chunk of tokens does, `batch` of them, with activations alone.
struct ChunkProduct {
  std::int64_t batch = 0;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
};

/// Describes one recurrent layer on a tensor rank, or of the whole model, without the norm before it.
struct Recurrence {
  std::int64_t input_width = 0;       ///< columns of the matrices that read the residual stream
  std::int64_t convolved = 0;         ///< channels of the short convolution
  std::int64_t conv_kernel = 0;       ///< tokens that it sees
  std::int64_t output_width = 0;      ///< rows of the matrix that writes to the residual stream
  std::int64_t small_parameters = 0;  ///< beside those matrices: convolution, decays, gains
  std::int64_t tensors = 0;           ///< weights, biases and gains, each counted as one
  std::int64_t state_values = 0;      ///< of a sequence, each of 32 bits
  std::int64_t kept_width = 0;  ///< values a token keeps for the backward pass beside inputs of products
  Flops flops_per_token = 0;    ///< forward, of state and convolution, as frameworks count them
  std::int64_t chunk = 1;       ///< tokens
  std::vector<ChunkProduct> products;  ///< of a chunk in the forward pass

  [[nodiscard]] std::int64_t weights(const Model& model) const {
    return model.hidden * (input_width + output_width);
  }
  [[nodiscard]] std::int64_t parameters(const Model& model) const {
    return weights(model) + small_parameters;
  }
  /// Returns the bytes that a sequence keeps for its next token: the state, and the last tokens of the
  /// convolution in 16 bits.
  [[nodiscard]] Bytes state_bytes() const { return 4 * state_values + 2 * convolved * (conv_kernel - 1); }
};

/// A layer of that kind, which is not attention, on one of `ranks` tensor ranks. Cut dimensions round up.
[[nodiscard]] Recurrence recurrence_of(TokenMixer mixer, const Model& model, std::int64_t ranks);

/// Returns its kernels in training, with norm and residual.
[[nodiscard]] SubBlock recurrence_sub_block(const Experiment& experiment, const TransformerShape& shape,
                                            TokenMixer mixer);
/// Adds the activations that a recurrence keeps per micro-batch from forward to backward, with the input of
/// the layer.
void add_recurrence(const Model& model, const TransformerShape& shape, TokenMixer mixer, ActivationSum& sum);
/// Adds the activations that a recurrence keeps between the gradients of inputs and those of weights: inputs
/// and output gradients of its products.
void add_recurrence_for_weights(const Model& model, const TransformerShape& shape, TokenMixer mixer,
                                ActivationSum& sum);

/// Convolution, state and gated norm of `tokens` tokens, in chunks.
[[nodiscard]] std::vector<Kernel> chunk_kernels(const Recurrence& recurrence, const Software& software,
                                                std::int64_t tokens, Bytes element);
/// Returns the kernels for `requests` sequences with `tokens` new tokens together, which run one after the
/// other: states are read and written once.
[[nodiscard]] std::vector<Kernel> decode_kernels(const Recurrence& recurrence, const Software& software,
                                                 std::int64_t requests, std::int64_t tokens, Bytes element);

}  // namespace orrery
