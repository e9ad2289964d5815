// Sizes of the attention of a layer: parameters, weights and products, plain or latent.
#pragma once

#include <vector>

#include "orrery/experiment.hpp"
#include "workloads/models/step_builder.hpp"

namespace orrery {

/// Heads of a rank, or of the whole model.
struct Heads {
  std::int64_t query = 0;
  std::int64_t key_value = 0;
};

/// Widths of all its heads together.
[[nodiscard]] std::int64_t query_width(const Model& model, Heads heads);
[[nodiscard]] std::int64_t key_value_width(const Model& model, Heads heads);
[[nodiscard]] std::int64_t output_width(const Model& model, Heads heads);

/// Weights, biases and the gains of norms inside it. Latent attention makes its narrow vectors whole on every
/// rank.
[[nodiscard]] std::int64_t attention_parameters(const Model& model, Heads heads);
[[nodiscard]] std::int64_t attention_tensors(const Model& model);
/// Weights of the products alone.
[[nodiscard]] std::int64_t attention_weights(const Model& model, Heads heads);

/// The one that has most of them.
[[nodiscard]] std::int64_t largest_attention_weight(const Model& model, Heads heads);

/// Returns the products that make queries, keys and values of `tokens` tokens.
[[nodiscard]] std::vector<Kernel> attention_inputs(const Model& model, Heads heads, std::int64_t tokens);
/// Returns those of attention_inputs() that work on latent vectors; none if the model has none.
[[nodiscard]] std::vector<Kernel> latent_projections(const Model& model, Heads heads, std::int64_t tokens);
/// Values of a token that norms between those products and the core read.
[[nodiscard]] std::int64_t normalised_width(const Model& model, Heads heads);
/// Values of a token that are kept for the backward pass beside the input: queries, keys, values, latent
/// vectors.
[[nodiscard]] std::int64_t attention_width_kept(const Model& model, Heads heads);
/// Returns the values of a token that the gradients of its weights need beside its input and that of the
/// product after the core: gradients of its products' outputs, and latent vectors.
[[nodiscard]] std::int64_t attention_width_for_weights(const Model& model, Heads heads);
/// Returns how many of the kept values latent attention computes from its latent vectors, and the weights
/// that do so; 0 without latent attention.
[[nodiscard]] std::int64_t projected_width(const Model& model, Heads heads);
[[nodiscard]] std::int64_t latent_projection_weights(const Model& model, Heads heads);
/// Returns the FLOPs of scores and context of a token over `others` tokens.
[[nodiscard]] Flops core_flops(const Model& model, std::int64_t heads, std::int64_t others);

}  // namespace orrery
