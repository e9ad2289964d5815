#include "workloads/models/sub_blocks.hpp"

#include "workloads/models/attention_kernels.hpp"
#include "workloads/models/layer_products.hpp"
#include "workloads/models/sparse_attention.hpp"

namespace orrery {
namespace {

void add_mlp(const Experiment& experiment, const TransformerShape& shape, std::int64_t ffn, SubBlock& block) {
  const Model& model = experiment.model;
  const double traffic = experiment.software.elementwise_traffic;
  const MlpProducts mlp = mlp_products(model, shape.tokens, ffn);
  const Bytes of_biases = model.biases ? 1 : 0;
  block.first = {
      {mlp.first, model.adapts(Linear::fc1), of_biases * mlp.first.m * mlp.first.n * shape.element}};
  block.core = {as(KernelClass::activation, scaled(mlp.activation * shape.element, traffic))};
  block.core_backward = {as(KernelClass::activation, scaled(mlp.gradient * shape.element, traffic))};
  block.second = {mlp.second, model.adapts(Linear::fc2), of_biases * shape.cut_residual()};
}

}  // namespace

SubBlock between_norms_and_residual(const Software& software, const TransformerShape& shape,
                                    bool post_norms) {
  SubBlock block;
  const double traffic = software.elementwise_traffic;
  const Kernel norm = as(KernelClass::norm, scaled(2 * shape.cut_residual(), traffic));
  block.before = {norm};
  block.after = {as(KernelClass::residual, scaled(3 * shape.cut_residual() + shape.dropout_mask(), traffic))};
  if (post_norms) block.after.push_back(norm);
  return block;
}

SubBlock attention_sub_block(const Experiment& experiment, const TransformerShape& shape,
                             const LayerContent& content) {
  const Model& model = experiment.model;
  const AttentionKernels kernels(experiment, shape, span_of(model, content));
  SubBlock block = between_norms_and_residual(experiment.software, shape, experiment.model.post_norms);
  block.half = SubBlock::Half::attention;
  const Bytes biased = model.qkv_biases && !model.latent() ? shape.element : 0;
  for (const Kernel& product : attention_inputs(model, shape.own_heads(), shape.tokens))
    block.first.push_back({product, model.adapts(Linear::qkv), biased * product.m * product.n});
  if (const Bytes normalised = shape.tokens * normalised_width(model, shape.own_heads()) * shape.element;
      normalised > 0) {
    block.inner_norms = {
        as(KernelClass::norm, scaled(2 * normalised, experiment.software.elementwise_traffic))};
    block.inner_norms_backward = {
        as(KernelClass::norm, scaled(3 * normalised, experiment.software.elementwise_traffic))};
  }
  for (const Kernel& product : indexer_inputs(model, shape.tokens))
    block.first.push_back({product, false, 0});
  if (model.attention_output_gate) {
    const Bytes output = shape.tokens * output_width(model, shape.own_heads()) * shape.element;
    block.gate = {as(KernelClass::activation, scaled(3 * output, experiment.software.elementwise_traffic))};
    block.gate_backward = {
        as(KernelClass::activation, scaled(5 * output, experiment.software.elementwise_traffic))};
  }
  block.core = all_as(KernelClass::attention, kernels.forward());
  block.core_backward = all_as(KernelClass::attention, kernels.backward(block.core));
  block.second = {mixer_output_product(model, shape.tokens, output_width(model, shape.own_heads())),
                  model.adapts(Linear::proj), model.biases ? shape.cut_residual() : 0};
  return block;
}

SubBlock shared_experts_sub_block(const Experiment& experiment, const TransformerShape& shape,
                                  std::int64_t ffn) {
  SubBlock block;
  add_mlp(experiment, shape, ffn, block);
  if (experiment.model.shared_expert_gate) {
    block.first.push_back({shared_gate_product(experiment.model, shape.tokens), false, 0});
    block.after = {as(KernelClass::activation,
                      scaled(2 * shape.cut_residual(), experiment.software.elementwise_traffic))};
  }
  return block;
}

SubBlock mlp_sub_block(const Experiment& experiment, const TransformerShape& shape) {
  SubBlock block = between_norms_and_residual(experiment.software, shape, experiment.model.post_norms);
  add_mlp(experiment, shape, shape.ffn, block);
  return block;
}

}  // namespace orrery
