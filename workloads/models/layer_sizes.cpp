// The block of a layer without its steps: parameters, tensors and matrices on one rank.
#include <algorithm>

#include "workloads/models/layer_products.hpp"
#include "workloads/models/transformer.hpp"

namespace orrery {

Block Transformer::layer(const LayerKind& kind) const {
  Block block;
  hold_activations(kind, block);
  of(kind.content).size_layer(kind.content, block);
  if (plan_.optimizer == Optimizer::muon) of(kind.content).list_matrices(kind.content, block);
  block.exchanges = exchanges_of(kind.content);
  block.exchanges_again = exchanges_again(kind);
  if (kind.receives) hold_encoder_output(block);
  block.frozen = frozen() ? block.parameters - shape_.adapter_parameters() : 0;
  if (plan_.frozen_precision != FrozenPrecision::as_computed) {
    block.narrow = block.frozen;
    // One weight at a time is there as products take it.
    const std::int64_t widest = std::max(shape_.ffn, shape_.heads * model_.head_dim) * model_.hidden;
    for (WorkspaceBytes& workspace : block.workspace) workspace.gathered_parameters = widest * shape_.element;
  }
  block.frozen_tensors = frozen() ? block.tensors - shape_.adapter_tensors() : 0;
  return block;
}

void Transformer::size_layer(const LayerContent& content, Block& block) const {
  block.for_weights = waits_for_weights(content);
  block.parameters = shape_.adapter_parameters();
  block.tensors = shape_.adapter_tensors();
  if (content.attends()) {
    block.parameters += shape_.attention_half_parameters();
    block.tensors += shape_.attention_half_tensors();
  }
  if (content.recurs()) {
    block.parameters += shape_.recurrence_half_parameters(content.mixer);
    block.tensors += shape_.recurrence_half_tensors(content.mixer);
  }
  if (content.mlp == LayerMlp::dense) {
    block.parameters += shape_.mlp_half_parameters();
    block.tensors += shape_.mlp_half_tensors();
  }
  if (content.has_experts()) add_experts(block);
  if (content.crosses) {
    block.parameters += shape_.attention_half_parameters();
    block.tensors += shape_.attention_half_tensors() + 1;  // keys and values have a matrix of their own
  }
}

/// Lists the weight matrices of a layer's products; queries, keys and values are one matrix, as in their
/// product.
void Transformer::list_matrices(const LayerContent& content, Block& block) const {
  const LayerHalves halves = halves_of(content);
  const auto add = [&](const Kernel& product, std::int64_t count = 1, bool of_experts = false) {
    block.matrices.push_back({product.k, product.n, count, of_experts});
  };
  const auto add_half = [&](const SubBlock& half) {
    for (const Weight& weight : half.first) add(weight.product);
    add(half.second.product);
  };
  if (content.mixes()) add_half(halves.subs[0]);
  if (halves.cross) add_half(*halves.cross);
  if (content.mlp == LayerMlp::dense) add_half(halves.subs[1]);
  if (!content.has_experts()) return;
  const ExpertShape experts(model_, plan_, shape_);
  const std::int64_t inputs = mlp_inputs(model_);
  add(gemm(1, model_.experts, model_.hidden));
  add(gemm(1, inputs * experts.ffn, model_.hidden), experts.experts, true);
  add(gemm(1, model_.hidden, experts.ffn), experts.experts, true);
  if (experts.shared_ffn > 0) add_half(shared_experts_sub_block(experiment_, shape_, experts.shared_ffn));
}

void Transformer::add_experts(Block& block) const {
  const ExpertShape experts(model_, plan_, shape_);
  block.expert_parameters = experts.expert_parameters();
  block.expert_tensors = experts.expert_tensors();
  block.parameters += shape_.mlp_norm_parameters() + experts.parameters() + block.expert_parameters;
  block.tensors += shape_.mlp_norm_tensors() + experts.tensors() + block.expert_tensors;
}

}  // namespace orrery
