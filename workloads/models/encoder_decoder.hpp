// Builds encoder and decoder (Vaswani et al. 2017; Raffel et al. 2020, "T5"): layers of the decoder also
// attend to the encoder's output.
#pragma once

#include "workloads/models/activation_sum.hpp"
#include "workloads/models/sub_blocks.hpp"
#include "workloads/models/transformer_shape.hpp"

namespace orrery {

/// Tokens of a sample that go through layers of that content.
[[nodiscard]] std::int64_t tokens_of(const Model& model, const LayerContent& content);

/// Forward FLOPs of a sample in the cross-attention of a layer: products with weights, scores and context.
[[nodiscard]] TotalFlops cross_weight_flops(const Model& model);
[[nodiscard]] TotalFlops cross_core_flops(const Model& model);

/// Entries of the tables of relative positions, one for the self-attention of each stack (Raffel et al. 2020,
/// section 2.1): 32 distances a head, which all its layers share.
[[nodiscard]] std::int64_t relative_positions(const Model& model, std::int64_t heads);

/// Describes the output of the encoder on one rank.
struct EncoderOutput {
  EncoderOutput(const Model& model, const Plan& plan, const TransformerShape& shape);

  std::int64_t tokens;
  Bytes bytes;  ///< of a micro-batch
  Bytes cut;    ///< of a rank outside the products
};

/// The kernels of the cross-attention of a layer: queries of the decoder's tokens, keys and values of the
/// encoder's.
[[nodiscard]] SubBlock cross_attention_sub_block(const Experiment& experiment, const TransformerShape& shape);
/// Adds the activations of cross-attention per micro-batch, without the encoder's output.
void add_cross_attention(const Experiment& experiment, const TransformerShape& shape, ActivationSum& sum);
/// Adds the activations that cross-attention keeps between the gradients of its inputs and those of its
/// weights.
void add_cross_for_weights(const Experiment& experiment, const TransformerShape& shape, ActivationSum& sum);

}  // namespace orrery
