// Sums the activations that a layer of a transformer keeps, and the workspace it holds while it runs
// backward.
#include <algorithm>

#include "workloads/models/encoder_decoder.hpp"
#include "workloads/models/layer_products.hpp"
#include "workloads/models/recurrence.hpp"
#include "workloads/models/transformer.hpp"

namespace orrery {

/// Adapters are multiplied in 16 bits, and frozen weights need no input.
ActivationSum Transformer::nothing_kept(ModuleSet recomputed) const {
  constexpr std::int64_t kBytesOf8Bits = 32;
  const bool casts = is_narrow(plan_.precision);
  const bool narrow = software_.keeps_narrow_inputs && casts && !frozen();
  const std::int64_t in_8_bits =
      casts ? std::max(kBytesOf8Bits, std::int64_t{bytes_of_32(plan_.precision)}) : kBytesOf8Bits;
  return ActivationSum(recomputed, narrow ? bytes_of_32(plan_.precision) : ActivationSum::kWide,
                       software_.keeps_narrow_activation_inputs ? in_8_bits : ActivationSum::kWide);
}

ActivationSum Transformer::activations_of(const LayerContent& content, ModuleSet recomputed) const {
  ActivationSum sum = nothing_kept(recomputed);
  const bool first = !content.mixes();
  if (content.attends()) shape_.add_attention(sum);
  if (content.recurs()) add_recurrence(model_, shape_, content.mixer, sum);
  if (content.crosses) add_cross_attention(experiment_, shape_, sum);
  if (content.has_experts()) {
    ExpertShape(model_, plan_, shape_).add(sum, first);
  } else if (content.mlp != LayerMlp::none) {
    shape_.add_mlp(sum, first);
  }
  if (software_.eager_layers) shape_.add_eager_operations(content, sum);
  return sum;
}

/// Returns the recomputed memory that is held as a layer runs backward: its own and that of earlier layers in
/// its group.
Bytes Transformer::recomputed_by(const LayerKind& kind, const ActivationSum& own) const {
  if (kind.before == 0) return own.again().total();
  Bytes sum = -shape_.cut_residual();  // the input of the group
  for (const LayerContent& content : kinds_.group_up_to(kind))
    sum += of(content).activations_of(content, {}).kept().total();
  return sum;
}

/// Tokens go to their experts, and come back.
std::int32_t Transformer::exchanges_of(const LayerContent& content) const {
  return content.has_experts() && plan_.expert_parallel > 1 ? 2 : 0;
}

/// Before the backward pass of a layer, whose experts, or whose group of layers, are computed again.
std::int32_t Transformer::exchanges_again(const LayerKind& kind) const {
  if (!kind.recomputes_layers()) return kind.recomputed.has(Module::experts) ? exchanges_of(kind.content) : 0;
  std::int32_t sum = 0;
  if (!kind.ends_group) return sum;
  for (const LayerContent& content : kinds_.group_up_to(kind)) sum += exchanges_of(content);
  return sum;
}

/// Where the gradients of weights are a pass of their own. Products that read narrow inputs read narrow
/// gradients as well.
Bytes Transformer::waits_for_weights(const LayerContent& content) const {
  ActivationSum sum = nothing_kept({});
  shape_.add_for_weights(sum, content.attends(), content.mlp == LayerMlp::dense);
  if (content.recurs()) add_recurrence_for_weights(model_, shape_, content.mixer, sum);
  if (content.has_experts()) ExpertShape(model_, plan_, shape_).add_for_weights(sum);
  if (content.crosses) add_cross_for_weights(experiment_, shape_, sum);
  return sum.kept().total();
}

/// Sets the activations and workspaces of a layer. A recomputed group of layers keeps only the input of its
/// first layer.
void Transformer::hold_activations(const LayerKind& kind, Block& block) const {
  const Transformer& variant = of(kind.content);
  const ActivationSum own = variant.activations_of(kind.content, kind.recomputed);
  if (kind.before == 0) block.activations = own.kept();
  block.input_gradient = shape_.cut_residual();
  WorkspaceBytes held = variant.gradients_of(kind.content);
  held.recomputed = recomputed_by(kind, own);
  variant.hold_weight_gradients(kind.content, block);
  block.in(PassKind::backward_input) = held;
  held.weight_gradients = block.in(PassKind::backward_weight).weight_gradients;
  block.in(PassKind::backward) = held;
}

/// Gradients of activations, at the half that runs backward while most is kept.
WorkspaceBytes Transformer::gradients_of(const LayerContent& content) const {
  if (content.has_experts()) return ExpertShape(model_, plan_, shape_).gradients();
  if (content.mlp != LayerMlp::none) return shape_.mlp_gradients();
  WorkspaceBytes held;
  held.activation_gradients = shape_.cut_residual();
  return held;
}

/// One at a time, or one of each shape for ever. ZeRO-3 has them in its buckets.
void Transformer::hold_weight_gradients(const LayerContent& content, Block& block) const {
  if (frozen() || shards_gradients()) return;
  const ExpertShape experts(model_, plan_, shape_);
  const Heads heads = shape_.own_heads();
  const std::int64_t widest = content.has_experts()            ? std::max(experts.ffn, experts.shared_ffn)
                              : content.mlp == LayerMlp::dense ? shape_.ffn
                                                               : 0;
  if (software_.keeps_weight_gradients) {
    const auto bytes = [&](std::int64_t weights) { return weights * shape_.element; };
    block.weight_gradients[0] = content.attends() ? bytes(attention_weights(model_, heads)) : 0;
    if (content.recurs())
      block.weight_gradients[3] = bytes(recurrence_of(content.mixer, model_, shape_.tensor).weights(model_));
    block.weight_gradients[1] = content.has_experts() ? 0 : bytes(mlp_weights(model_, widest));
    if (content.has_experts())
      block.weight_gradients[2] =
          bytes(mlp_weights(model_, experts.ffn) + mlp_weights(model_, experts.shared_ffn));
    return;
  }
  const std::int64_t first = mlp_inputs(model_) * widest * model_.hidden;  // matrices of an MLP as one
  std::int64_t mixer = content.attends() ? largest_attention_weight(model_, heads) : 0;
  if (content.recurs())
    mixer = model_.hidden * recurrence_of(content.mixer, model_, shape_.tensor).input_width;
  block.in(PassKind::backward_weight).weight_gradients = std::max(first, mixer) * shape_.element;
}

}  // namespace orrery
