#include "workloads/models/expert_shape.hpp"

#include <algorithm>
#include <cmath>

#include "workloads/communicators/expert_load.hpp"
#include "workloads/models/layer_products.hpp"

namespace orrery {
namespace {

std::int64_t loaded(std::int64_t tokens, double load) {
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(tokens) * load));
}

std::int64_t router_parameters(const Model& m) { return m.experts * (m.hidden + (m.biases ? 1 : 0)); }

/// Weights of the gate of the shared experts.
std::int64_t shared_gate(const Model& m) { return m.shared_expert_gate ? m.hidden : 0; }

}  // namespace

std::int64_t mlp_weights(const Model& m, std::int64_t ffn) { return (mlp_inputs(m) + 1) * m.hidden * ffn; }

std::int64_t mlp_parameters(const Model& m, std::int64_t ffn) {
  return mlp_weights(m, ffn) + (m.biases ? mlp_inputs(m) * ffn + m.hidden : 0);
}

std::int64_t mixture_parameters(const Model& m) {
  return router_parameters(m) + shared_gate(m) +
         (m.experts + m.shared_experts) * mlp_parameters(m, m.expert_ffn_hidden);
}

std::int64_t expert_weights_met(const Model& m) {
  return m.hidden * m.experts + shared_gate(m) +
         (m.experts_per_token + m.shared_experts) * mlp_weights(m, m.expert_ffn_hidden);
}

std::int64_t active_parameters(const Model& m) {
  const std::int64_t idle = (m.experts - m.experts_per_token) * mlp_parameters(m, m.expert_ffn_hidden);
  const std::int64_t mixtures = m.moe_layers() + (m.has_experts(m.layers - 1) ? m.multi_token_prediction : 0);
  return transformer_parameters(m) - mixtures * idle;
}

ExpertShape::ExpertShape(const Model& model, const Plan& plan, const TransformerShape& shape)
    : tokens(divide_up(shape.tokens, shape.tensor)),
      sent(loaded(tokens * model.experts_per_token, token_load(model, plan))),
      rows(sent * plan.expert_tensor_parallel),
      experts(divide_up(model.experts, plan.expert_parallel)),
      ffn(divide_up(model.expert_ffn_hidden, plan.expert_tensor_parallel)),
      shared_ffn(divide_up(model.shared_experts * model.expert_ffn_hidden, shape.tensor)),
      row(model.hidden * shape.element),
      stream(shape.cut_residual()),
      model_(model),
      whole_tokens_(shape.tokens),
      element_(shape.element) {}

std::int64_t ExpertShape::copies(double per_token) const {
  const double load = static_cast<double>(sent) / static_cast<double>(tokens * model_.experts_per_token);
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(tokens) * per_token * load));
}

std::int64_t ExpertShape::rows_per_expert() const { return divide_up(rows, experts); }

std::int64_t ExpertShape::parameters() const {
  return router_parameters(model_) + shared_gate(model_) +
         (shared_ffn > 0 ? mlp_parameters(model_, shared_ffn) : 0);
}

std::int64_t ExpertShape::expert_parameters() const { return experts * mlp_parameters(model_, ffn); }

std::int64_t ExpertShape::tensors() const {
  const std::int64_t each = model_.biases ? 2 : 1;
  return each * (shared_ffn > 0 ? 3 : 1) + (model_.shared_expert_gate ? 1 : 0);
}

std::int64_t ExpertShape::expert_tensors() const { return 2 * experts * (model_.biases ? 2 : 1); }

Bytes ExpertShape::kept_by_products(std::int64_t per_row, std::int64_t per_token) const {
  return (rows * per_row + whole_tokens_ * per_token) * element_;
}

/// The router reads the output of the norm as it is, the first product of shared experts a copy that was
/// cast.
bool ExpertShape::casts_for_shared(const ActivationSum& sum) const { return sum.narrows() && shared_ffn > 0; }

void ExpertShape::add(ActivationSum& sum, bool first) const {
  constexpr Bytes kRouter = 8;  // logit and probability
  constexpr auto kExperts = ActivationKind::experts;
  first ? sum.add_input(stream) : sum.add(ActivationKind::residual, stream);
  sum.add(ActivationKind::residual, stream, {Module::norm});
  if (casts_for_shared(sum)) sum.add_product_input(kExperts, stream, {Module::norm, Module::experts});
  sum.add(kExperts, kRouter * tokens * model_.experts, {Module::experts});
  sum.add_product_input(kExperts, kept_by_products(model_.hidden, 0), {Module::experts});
  sum.add_activation_input(kExperts,
                           kept_by_products(mlp_inputs(model_) * ffn, mlp_inputs(model_) * shared_ffn),
                           {Module::experts});
  sum.add_product_input(kExperts, kept_by_products(ffn, shared_ffn), {Module::experts, Module::activation});
}

/// Most is held when rows have come, at the second product or at the activation, as in an MLP.
WorkspaceBytes ExpertShape::gradients() const {
  const Bytes inner = rows * ffn * element_;
  WorkspaceBytes come{.activation_gradients = stream + rows * row, .communication = sent * row};
  const Bytes product = rows * row + inner;
  const Bytes in_experts = stream + std::max(product, mlp_inputs(model_) * inner);
  return in_experts > come.total() ? WorkspaceBytes{.activation_gradients = in_experts} : come;
}

/// Adds activations that wait for gradients of weights. Those of the router keep their precision.
void ExpertShape::add_for_weights(ActivationSum& sum) const {
  constexpr auto kWaiting = ActivationKind::for_weights;
  const std::int64_t inner = mlp_inputs(model_) + 1;
  const std::int64_t shared = shared_ffn > 0 ? model_.hidden : 0;  // gradient of the output
  sum.add(kWaiting, stream + 2 * element_ * tokens * model_.experts);
  if (casts_for_shared(sum)) sum.add_product_input(kWaiting, stream);
  sum.add_product_input(kWaiting,
                        kept_by_products(2 * model_.hidden + inner * ffn, shared + inner * shared_ffn));
}

}  // namespace orrery
