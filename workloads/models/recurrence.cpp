#include "workloads/models/recurrence.hpp"

#include "workloads/models/recurrences.hpp"

namespace orrery {
namespace {

/// Returns the kernel of the convolution, which reads and writes its channels. The gated norm reads its input
/// and the gate, and writes.
Kernel convolution(const Recurrence& r, const Software& software, std::int64_t tokens, Bytes element) {
  return scaled(2 * tokens * r.convolved * element, software.elementwise_traffic);
}

Kernel gated_norm(const Recurrence& r, const Software& software, std::int64_t tokens, Bytes element) {
  return scaled(3 * tokens * r.output_width * element, software.elementwise_traffic);
}

/// Returns the product of `chunks` chunks as one batch.
Kernel product_of(const ChunkProduct& one, std::int64_t chunks) {
  return gemm(one.m, one.n, one.k, one.batch * chunks);
}

}  // namespace

Recurrence recurrence_of(TokenMixer mixer, const Model& model, std::int64_t ranks) {
  return mixer == TokenMixer::mamba2 ? mamba2_recurrence(model, ranks)
                                     : gated_delta_net_recurrence(model, ranks);
}

/// States go from chunk to chunk through memory, in 32 bits.
std::vector<Kernel> chunk_kernels(const Recurrence& r, const Software& software, std::int64_t tokens,
                                  Bytes element) {
  const std::int64_t chunks = divide_up(tokens, r.chunk);
  std::vector<Kernel> kernels{convolution(r, software, tokens, element)};
  for (const ChunkProduct& one : r.products) kernels.push_back(product_of(one, chunks));
  kernels.push_back(memory(2 * 4 * chunks * r.state_values));
  kernels.push_back(gated_norm(r, software, tokens, element));
  return kernels;
}

std::vector<Kernel> decode_kernels(const Recurrence& r, const Software& software, std::int64_t requests,
                                   std::int64_t tokens, Bytes element) {
  const Bytes moved = 2 * requests * r.state_bytes() + tokens * (r.convolved + r.output_width) * element;
  return {convolution(r, software, tokens, element), memory(moved), gated_norm(r, software, tokens, element)};
}

SubBlock recurrence_sub_block(const Experiment& experiment, const TransformerShape& shape, TokenMixer mixer) {
  const Model& model = experiment.model;
  const Software& software = experiment.software;
  const Recurrence r = recurrence_of(mixer, model, shape.tensor);
  SubBlock block = between_norms_and_residual(software, shape, model.post_norms);
  block.half = SubBlock::Half::recurrence;
  block.first = {{gemm(shape.tokens, r.input_width, model.hidden), false, 0}};
  block.core = all_as(KernelClass::recurrence, chunk_kernels(r, software, shape.tokens, shape.element));
  // The backward pass makes scores and states again, then the gradients of both factors of each product.
  block.core_backward = block.core;
  for (const Kernel& kernel : block.core) {
    if (kernel.kind == Kernel::Kind::gemm) {
      block.core_backward.push_back(input_gradient(kernel));
      block.core_backward.push_back(weight_gradient(kernel));
    } else {
      block.core_backward.push_back(kernel);
    }
  }
  block.second = {gemm(shape.tokens, model.hidden, r.output_width), false, 0};
  return block;
}

void add_recurrence(const Model& model, const TransformerShape& shape, TokenMixer mixer, ActivationSum& sum) {
  const Recurrence r = recurrence_of(mixer, model, shape.tensor);
  const Bytes stream = shape.cut_residual();
  sum.add_input(stream);
  sum.add_product_input(ActivationKind::residual, stream, {Module::norm});
  if (model.post_norms) sum.add(ActivationKind::residual, stream);
  sum.add(ActivationKind::residual, shape.dropout_mask());
  sum.add(ActivationKind::attention, shape.tokens * r.kept_width * shape.element);
  sum.add_product_input(ActivationKind::attention, shape.tokens * r.output_width * shape.element);
}

void add_recurrence_for_weights(const Model& model, const TransformerShape& shape, TokenMixer mixer,
                                ActivationSum& sum) {
  const Recurrence r = recurrence_of(mixer, model, shape.tensor);
  sum.add_product_input(ActivationKind::for_weights,
                        shape.cut_residual() + shape.residual() +
                            shape.tokens * (r.input_width + r.output_width) * shape.element);
}

}  // namespace orrery
