// Computes sizes of a mixture of experts: parameters and FLOPs of the whole model, and the tokens, work and
// activations of one rank. Exact integers; every formula with its source.
#pragma once

#include "orrery/experiment.hpp"
#include "workloads/models/transformer_shape.hpp"

namespace orrery {

/// Weights of an MLP of that width: two matrices, or three where it is gated.
[[nodiscard]] std::int64_t mlp_weights(const Model& model, std::int64_t ffn);
/// Returns the parameters of an MLP with its biases.
[[nodiscard]] std::int64_t mlp_parameters(const Model& model, std::int64_t ffn);
/// Router, experts and shared experts of a layer.
[[nodiscard]] std::int64_t mixture_parameters(const Model& model);
/// Returns the weights that a token uses: the router, its experts and the shared ones.
[[nodiscard]] std::int64_t expert_weights_met(const Model& model);
/// Parameters of the whole model but for the experts that a token does not go to.
[[nodiscard]] std::int64_t active_parameters(const Model& model);

/// Describes the work of one rank in a layer with experts, per micro-batch. Cut dimensions round up.
struct ExpertShape {
  ExpertShape(const Model& model, const Plan& plan, const TransformerShape& shape);

  std::int64_t tokens;      ///< that this rank routes: its part of the sequence
  std::int64_t sent;        ///< copies of them, one for each expert chosen, on the busiest rank
  std::int64_t rows;        ///< copies that the experts of the busiest rank work on
  std::int64_t experts;     ///< on this rank
  std::int64_t ffn;         ///< width of an expert on this rank
  std::int64_t shared_ffn;  ///< width of the shared experts together on this rank; 0: none
  Bytes row;                ///< bytes of the activation of a token
  Bytes stream;             ///< of the residual stream on this rank

  /// Returns the copies of its tokens that leave the busiest rank if each goes to `per_token` places.
  [[nodiscard]] std::int64_t copies(double per_token) const;
  /// Rows of each expert, which get equally many.
  [[nodiscard]] std::int64_t rows_per_expert() const;
  /// Returns the parameters of router and shared experts, which all ranks of a stage hold as they hold other
  /// weights.
  [[nodiscard]] std::int64_t parameters() const;
  [[nodiscard]] std::int64_t expert_parameters() const;
  [[nodiscard]] std::int64_t tensors() const;
  [[nodiscard]] std::int64_t expert_tensors() const;
  /// Bytes made per micro-batch: inputs of norm and router, logits and probabilities in 32 bits, of each row
  /// its input, the input of the activation and its output, and the same of shared experts.
  /// `first`: nothing comes before them in their layer.
  void add(ActivationSum& sum, bool first = false) const;
  /// Held while the experts run backward, beside that: gradients of the residual stream and of rows, and rows
  /// on their way.
  [[nodiscard]] WorkspaceBytes gradients() const;
  /// Adds the activations that experts keep between the gradients of inputs and those of weights: inputs and
  /// output gradients of all products.
  void add_for_weights(ActivationSum& sum) const;

 private:
  [[nodiscard]] bool casts_for_shared(const ActivationSum& sum) const;
  [[nodiscard]] Bytes kept_by_products(std::int64_t per_row, std::int64_t per_token) const;

  const Model& model_;
  std::int64_t whole_tokens_;  ///< of its tensor group
  Bytes element_;
};

}  // namespace orrery
