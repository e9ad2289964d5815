// Implements the vocabulary of a transformer: the embedding before the layers; norm, logits and loss after
// them.
#include <algorithm>
#include <iterator>
#include <utility>

#include "workloads/models/layer_products.hpp"
#include "workloads/models/transformer.hpp"

namespace orrery {

Block Transformer::embedding() const {
  Block block;
  block.activations[ActivationKind::vocabulary] = shape_.dropout_mask();
  block.for_weights = frozen() ? 0 : shape_.cut_residual();  // gradient of the output
  block.parameters = shape_.embedding_parameters();
  block.tensors = model_.positions == Positions::rotary ? 1 : 2;
  hold_table_gradient(shape_.vocab * model_.hidden, block);
  return frozen() ? freeze(std::move(block)) : block;
}

/// Dense, before it is added to the others.
void Transformer::hold_table_gradient(std::int64_t weights, Block& block) const {
  if (frozen() || shards_gradients()) return;
  for (const PassKind kind : {PassKind::backward, PassKind::backward_weight})
    block.in(kind).weight_gradients = weights * shape_.element;
}

Steps Transformer::look_up(Workload& workload) const {
  const Bytes table =
      2 * shape_.residual() + (model_.positions == Positions::learned ? shape_.residual() : 0);
  StepBuilder ahead(experiment_, workload, Phase::forward);
  const std::int32_t looked_up =
      reduce_output(ahead, Part::embedding,
                    ahead.compute(Part::embedding, {as(KernelClass::embedding, memory(table))}, kBlockInput),
                    shape_.residual());
  return std::move(ahead).finish(looked_up);
}

void Transformer::write_embedding(Block& block, Workload& workload) const {
  block.of(PassKind::forward) = look_up(workload);
  for (const PassKind kind : backward_kinds(splits_backward(plan_)))
    block.of(kind) = embedding_backward(kind, workload);
}

/// All of it is a gradient of weights.
Steps Transformer::embedding_backward(PassKind kind, Workload& workload) const {
  StepBuilder back(experiment_, workload, phase_of(kind));
  if (frozen() || !completes_gradients(kind)) return std::move(back).finish(kBlockInput);
  const std::int32_t ready = gather_input(back, Part::embedding, kBlockInput, shape_.residual());
  // The gradient of the table is dense: cleared, then added to where tokens occur.
  std::vector<Kernel> kernels{as(
      KernelClass::embedding, memory(3 * shape_.residual() + shape_.vocab * model_.hidden * shape_.element))};
  accumulate(kernels, shape_.embedding_parameters());
  const std::int32_t added = back.compute(Part::embedding, std::move(kernels), ready);
  return std::move(back).finish(added);
}

Block Transformer::head() const {
  Block block;
  const std::int64_t logits = shape_.tokens * shape_.vocab;
  const Bytes kept = scaled(logits, software_.kept_bytes_per_logit).bytes;
  const Bytes loss = scaled(logits, software_.loss_bytes_per_logit).bytes;
  const std::int64_t chunks = loss_chunks();
  if (software_.eager_layers) block.activations[ActivationKind::residual] = shape_.eager_norm();
  if (chunks > 1) {
    // The input of the norm, and the gradient of the projection's, which tensor ranks sum up in the backward
    // pass.
    block.activations[ActivationKind::vocabulary] = shape_.cut_residual() + shape_.residual();
    block.in(PassKind::forward).loss = shape_.head_inputs() + (kept + loss + chunks - 1) / chunks;
  } else {
    block.activations[ActivationKind::vocabulary] = shape_.head_inputs() + kept;
    for (const PassKind kind : {PassKind::forward, PassKind::backward, PassKind::backward_input})
      block.in(kind).loss = loss;
  }
  hold_table_gradient(shape_.vocab * model_.hidden, block);
  if (chunks > 1)
    block.in(PassKind::forward).weight_gradients =
        std::exchange(block.in(PassKind::backward).weight_gradients, 0);
  if (chunks > 1) block.in(PassKind::backward_weight).weight_gradients = 0;
  block.for_weights =
      frozen() || chunks > 1 ? 0 : block.activations.total();  // input and gradient of the logits
  block.input_gradient = shape_.cut_residual();
  block.parameters = shape_.head_parameters();
  block.tensors = shape_.head_tensors();
  return frozen() ? freeze(std::move(block)) : block;
}

/// No more than there are tokens.
std::int64_t Transformer::loss_chunks() const { return std::min(plan_.loss_chunks, shape_.tokens); }

/// Projection, loss and their gradients of one piece of the tokens after the other.
std::vector<Kernel> Transformer::chunked_loss() const {
  std::vector<Kernel> kernels;
  const std::int64_t chunks = loss_chunks();
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const std::int64_t tokens = shape_.tokens * (chunk + 1) / chunks - shape_.tokens * chunk / chunks;
    const Kernel product = logits_product(model_, tokens, shape_.vocab);
    kernels.push_back(product);
    kernels.push_back(as(KernelClass::loss,
                         scaled(tokens * shape_.vocab,
                                software_.forward_bytes_per_logit + software_.backward_bytes_per_logit)));
    kernels.push_back(input_gradient(product));
    if (frozen()) continue;
    kernels.push_back(weight_gradient(product, software_.fused_sum_bytes()));
    accumulate_products(kernels, shape_.vocab * model_.hidden);
  }
  return kernels;
}

Steps Transformer::head_forward(Workload& workload) const {
  const std::int64_t logits = shape_.tokens * shape_.vocab;
  StepBuilder to(experiment_, workload, Phase::forward);
  const std::int32_t ready = gather_input(to, Part::head, kBlockInput, shape_.residual());
  std::vector<Kernel> kernels{as(KernelClass::norm, elementwise(2 * shape_.cut_residual()))};
  if (loss_chunks() > 1) {
    std::ranges::move(chunked_loss(), std::back_inserter(kernels));
  } else {
    kernels.push_back(logits_product(model_, shape_.tokens, shape_.vocab));
    kernels.push_back(as(KernelClass::loss, scaled(logits, software_.forward_bytes_per_logit)));
  }
  std::int32_t out = to.compute(Part::head, std::move(kernels), ready);
  if (tensor_parallel()) {
    // Vocabulary-parallel cross-entropy adds up maximum, target logit and sum of exponentials.
    for (int i = 0; i < 3; ++i)
      out = to.collective_as_is(Part::head, Collective::all_reduce, shape_.tokens * 4, out);
  }
  return std::move(to).finish(out);
}

Steps Transformer::head_backward(PassKind kind, Workload& workload) const {
  const std::int64_t logits = shape_.tokens * shape_.vocab;
  const Kernel product = logits_product(model_, shape_.tokens, shape_.vocab);
  StepBuilder to(experiment_, workload, phase_of(kind));
  const bool chunked = loss_chunks() > 1;  // whose gradients are there already
  const bool trains = completes_gradients(kind) && !frozen() && !chunked;
  if (kind == PassKind::backward_weight && !trains) return std::move(to).finish(kBlockInput);
  // Before the weight gradient, sequence parallelism gathers the input again.
  const std::int32_t input =
      trains ? gather_input(to, Part::head, kBlockInput, shape_.residual()) : kBlockInput;
  std::vector<Kernel> gradient;
  if (!chunked)
    gradient = {as(KernelClass::loss, scaled(logits, software_.backward_bytes_per_logit)),
                input_gradient(product)};
  std::vector<Kernel> kernels;
  if (kind == PassKind::backward && !chunked) to.compute(Part::head, std::move(gradient), kBlockInput);
  if (kind == PassKind::backward_input) kernels = std::move(gradient);
  if (trains) {
    kernels.push_back(weight_gradient(product, software_.fused_sum_bytes()));
    accumulate_products(kernels, shape_.vocab * model_.hidden);
  }
  if (hands_on(kind)) kernels.push_back(as(KernelClass::norm, elementwise(3 * shape_.cut_residual())));
  const std::int32_t done = to.compute(Part::head, std::move(kernels), input);
  const std::int32_t sum = hands_on(kind) ? reduce_output(to, Part::head, done, shape_.residual()) : done;
  return std::move(to).finish(sum);
}

}  // namespace orrery
