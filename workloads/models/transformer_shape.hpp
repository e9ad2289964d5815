// Computes sizes of a transformer: parameters, FLOPs and activation bytes, for the whole model and for one
// tensor-parallel rank. Exact integers; every formula with its source.
#pragma once

#include "orrery/experiment.hpp"
#include "workloads/models/activation_sum.hpp"
#include "workloads/models/attention_shape.hpp"
#include "workloads/models/blocks.hpp"

namespace orrery {

/// FLOPs of one step over `samples` samples, forward and backward, nothing recomputed:
/// 72 B s l h^2 (1 + s/6h + V/12lh) for a plain GPT (Narayanan et al. 2021, appendix).
[[nodiscard]] TotalFlops transformer_model_flops(const Model& model, std::int64_t samples);

/// Weights of the adapters (LoRA) of a whole layer beside those matrices.
[[nodiscard]] std::int64_t adapter_weights(const Model& model, std::initializer_list<Linear> beside);

/// Returns the tokens that one token of a layer attends to, ignoring the causal mask.
[[nodiscard]] std::int64_t others_of(const Model& model, const LayerContent& content);

/// Weights that put the input of a depth of multi-token prediction together.
[[nodiscard]] std::int64_t projection_weights(const Model& model);

/// Describes the work of one tensor rank per micro-batch. Cut dimensions round up.
struct TransformerShape {
  TransformerShape(const Model& model, const Plan& plan);

  std::int64_t tensor;    ///< tensor-parallel ranks t
  std::int64_t tokens;    ///< micro-batch size times the part of the sequence on this rank
  std::int64_t heads;     ///< query heads of this rank
  std::int64_t kv_heads;  ///< key/value heads of this rank; replicated when fewer than ranks
  std::int64_t ffn;       ///< MLP width of this rank
  std::int64_t vocab;     ///< vocabulary entries of this rank
  Bytes element;          ///< bytes of one activation

  /// Heads of this rank.
  [[nodiscard]] Heads own_heads() const { return {heads, kv_heads}; }
  /// Bytes of the residual stream of a micro-batch.
  [[nodiscard]] Bytes residual() const;
  /// Returns the bytes of a residual that a rank holds outside the products, where sequence parallelism cuts
  /// it over tensor ranks.
  [[nodiscard]] Bytes cut_residual() const;
  [[nodiscard]] std::int64_t layer_parameters() const;
  /// Returns the parameters of the attention half with its norms. A parallel block has one norm, before
  /// attention.
  [[nodiscard]] std::int64_t attention_half_parameters() const;
  [[nodiscard]] std::int64_t mlp_half_parameters() const;
  /// Returns the parameters that a recurrent layer has in place of attention, with its norms.
  [[nodiscard]] std::int64_t recurrence_half_parameters(TokenMixer mixer) const;
  [[nodiscard]] std::int64_t recurrence_half_tensors(TokenMixer mixer) const;
  [[nodiscard]] std::int64_t embedding_parameters() const;
  [[nodiscard]] std::int64_t head_parameters() const;
  /// Returns the adapter parameters of a layer (LoRA). Beside a matrix cut by columns each rank holds the
  /// first adapter matrix whole, beside one cut by rows the second.
  [[nodiscard]] std::int64_t adapter_parameters() const;
  [[nodiscard]] std::int64_t adapter_tensors() const;
  /// Weights, biases and gains of a layer, each counted as one.
  [[nodiscard]] std::int64_t layer_tensors() const;
  [[nodiscard]] std::int64_t attention_half_tensors() const;
  [[nodiscard]] std::int64_t mlp_half_tensors() const;
  /// Returns the parameters of the norms of an MLP, or of the experts in its place.
  [[nodiscard]] std::int64_t mlp_norm_parameters() const;
  [[nodiscard]] std::int64_t mlp_norm_tensors() const;
  [[nodiscard]] std::int64_t head_tensors() const;
  [[nodiscard]] std::int64_t final_norm_parameters() const;
  [[nodiscard]] std::int64_t final_norm_tensors() const;
  /// Returns the parameters that a depth of multi-token prediction has beside its layer: a projection of 2h
  /// values and three norms.
  [[nodiscard]] std::int64_t depth_parameters() const;
  [[nodiscard]] std::int64_t depth_tensors() const;

  /// Bytes that the halves of a dense layer make per micro-batch: together sbh (34 + 5 as/h) for a plain GPT
  /// on one rank, cut as in Korthikanti et al. 2022, table 2.
  void add_attention(ActivationSum& sum) const;
  /// `first`: nothing comes before the MLP in its layer.
  void add_mlp(ActivationSum& sum, bool first = false) const;
  /// Returns the workspace of the MLP's backward pass: gradients of the residual stream and of the inputs or
  /// outputs of the activation, and with sequence parallelism the gathered gradient of its output.
  [[nodiscard]] WorkspaceBytes mlp_gradients() const;
  /// Adds the activations that attention and a dense MLP keep per micro-batch between the gradients of their
  /// inputs and those of their weights: inputs and output gradients of all products, 32 sbh in a plain GPT's
  /// layer on one rank (Qi et al. 2024, table 1). Where sequence parallelism cuts inputs, they are kept cut.
  void add_for_weights(ActivationSum& sum, bool attends, bool dense_mlp) const;
  /// Returns the bytes that a norm keeps besides where it is several operations: its input in 32 bits, which
  /// the square and the product read, and the normalised input, which the gain's product reads.
  [[nodiscard]] Bytes eager_norm() const;
  /// Adds those of a layer's norms, and the output of the activation function that a gate multiplies.
  void add_eager_operations(const LayerContent& content, ActivationSum& sum) const;
  /// Final norm's and projection's input; with logits in 32 bits 4 sbh (1 + V/h) in all, equation 6.
  [[nodiscard]] Bytes head_inputs() const;
  /// Returns one byte per element of the residual stream, or 0 without dropout.
  [[nodiscard]] Bytes dropout_mask() const;

 private:
  [[nodiscard]] Bytes outside(Bytes bytes) const;
  /// Returns the bytes of the low-rank outputs of adapters beside those matrices.
  [[nodiscard]] Bytes adapter_activations(std::initializer_list<Linear> beside) const;
  [[nodiscard]] std::int64_t adapters() const;
  [[nodiscard]] bool keeps_input(Linear which) const;

  const Model& model_;
  const Plan& plan_;
};

}  // namespace orrery
