// Defines the products and activations of the parts of a layer, by their shapes on one rank. Training passes,
// prefill and decode are written from these: a new MLP or router is described here and nowhere else.
#pragma once

#include <cstdint>

#include "orrery/model.hpp"
#include "orrery/workload.hpp"
#include "workloads/models/step_builder.hpp"

namespace orrery {

/// Two products with an activation between them: an MLP of one width, or the experts of a rank together.
struct MlpProducts {
  Kernel first;                 ///< up, or gate and up in one
  Kernel second;                ///< down
  std::int64_t activation = 0;  ///< values that the activation reads and writes
  std::int64_t gradient = 0;    ///< values that its gradient reads and writes
};

/// Products that the input of an MLP goes into: two where a gate multiplies one of them.
[[nodiscard]] inline std::int64_t mlp_inputs(const Model& model) { return model.gated_mlp ? 2 : 1; }

/// @param ffn  its width on the rank
[[nodiscard]] inline MlpProducts mlp_products(const Model& model, std::int64_t tokens, std::int64_t ffn) {
  const std::int64_t inputs = mlp_inputs(model);
  return {gemm(tokens, inputs * ffn, model.hidden), gemm(tokens, model.hidden, ffn),
          (inputs + 1) * tokens * ffn, (2 * inputs + 1) * tokens * ffn};
}

/// @param rows_each  that each of `experts` gets, `rows` all together
[[nodiscard]] inline MlpProducts expert_products(const Model& model, std::int64_t rows,
                                                 std::int64_t rows_each, std::int64_t ffn,
                                                 std::int64_t experts) {
  const std::int64_t inputs = mlp_inputs(model);
  return {grouped_gemm(rows_each, inputs * ffn, model.hidden, experts),
          grouped_gemm(rows_each, model.hidden, ffn, experts), (inputs + 1) * rows * ffn,
          (2 * inputs + 1) * rows * ffn};
}

/// The router scores each token for each expert, in 16 bits whatever other products are in.
[[nodiscard]] inline Kernel router_product(const Model& model, std::int64_t tokens) {
  Kernel kernel = gemm(tokens, model.experts, model.hidden);
  kernel.in_16_bits = true;
  return as(KernelClass::routing, kernel);
}

/// Reads scores in 32 bits, writes probabilities and the experts that are chosen.
[[nodiscard]] inline Kernel router_choice(const Model& model, std::int64_t tokens) {
  return as(KernelClass::routing, memory(12 * tokens * model.experts));
}

/// One number a token, by which the output of shared experts is multiplied.
[[nodiscard]] inline Kernel shared_gate_product(const Model& model, std::int64_t tokens) {
  return gemm(tokens, 1, model.hidden);
}

/// @param width  of the heads' outputs on the rank
[[nodiscard]] inline Kernel mixer_output_product(const Model& model, std::int64_t tokens,
                                                 std::int64_t width) {
  return gemm(tokens, model.hidden, width);
}

/// Stays in 16 bits whatever other products are in, as in Megatron-Core, torchtitan, DeepSeek-V3 and
/// quantised checkpoints.
/// @param vocab  entries of the vocabulary on the rank
[[nodiscard]] inline Kernel logits_product(const Model& model, std::int64_t tokens, std::int64_t vocab) {
  Kernel kernel = gemm(tokens, vocab, model.hidden);
  kernel.in_16_bits = true;
  return as(KernelClass::logits, kernel);
}

}  // namespace orrery
