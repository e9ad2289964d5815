// Multi-token prediction (DeepSeek-AI 2024, "DeepSeek-V3", section 2.2): each depth k predicts the token
// after the one that depth k - 1 predicts. It norms the output of the depth before and the embedding of the
// next token, projects both (2h values) to h, runs one more layer, and has a norm and a loss of its own over
// the vocabulary; the embedding and the output projection are those of the model. Sharding over tensor ranks
// as in Megatron-Core: the projection is cut by columns, and its output gathered.
#include <utility>

#include "workloads/models/transformer.hpp"

namespace orrery {

void append(Steps& to, Steps more) {
  const auto base = static_cast<std::int32_t>(to.list.size());
  const auto moved = [&](std::int32_t at) { return at == kBlockInput ? to.output : base + at; };
  const std::int32_t output = moved(more.output);
  for (Step& step : more.list) {
    step.after = moved(step.after);
    to.list.push_back(step);
  }
  to.output = output;
}

Kernel Transformer::projection() const {
  return gemm(shape_.tokens, divide_up(model_.hidden, shape_.tensor), 2 * model_.hidden);
}

/// Norms of both halves, put side by side; the product, and its output whole on every rank.
Steps Transformer::project(Phase phase, Workload& workload) const {
  StepBuilder to(experiment_, workload, phase);
  const Bytes stream = shape_.cut_residual();
  const Kernel norm = as(KernelClass::norm, elementwise(2 * stream));
  const std::int32_t normed = to.compute(
      Part::embedding, {norm, norm, as(KernelClass::residual, elementwise(4 * stream))}, kBlockInput);
  const std::int32_t input = gather_input(to, Part::embedding, normed, 2 * shape_.residual());
  std::int32_t out = to.compute(Part::embedding, {projection()}, input);
  if (tensor_parallel()) out = to.collective(Part::embedding, Collective::all_gather, shape_.residual(), out);
  return std::move(to).finish(out);
}

/// Each rank takes its columns of the gradient, which sequence parallelism gathers; with it the input is
/// gathered again for the weight's.
Steps Transformer::project_backward(PassKind kind, Workload& workload) const {
  StepBuilder to(experiment_, workload, phase_of(kind));
  const bool trains = completes_gradients(kind);
  std::int32_t at = kBlockInput;
  if (hands_on(kind)) at = gather_input(to, Part::embedding, at, shape_.residual());
  if (trains) at = gather_input(to, Part::embedding, at, 2 * shape_.residual());
  std::vector<Kernel> kernels;
  if (hands_on(kind)) kernels.push_back(input_gradient(projection()));
  if (trains) {
    kernels.push_back(weight_gradient(projection(), software_.fused_sum_bytes()));
    accumulate_products(kernels, projection().n * projection().k);
  }
  at = to.compute(Part::embedding, std::move(kernels), at);
  if (hands_on(kind)) {
    at = reduce_output(to, Part::embedding, at, 2 * shape_.residual());
    // These are both norms; their gradients of the stream are added to the gradient of the loss before.
    const Kernel pass = as(KernelClass::norm, elementwise(3 * shape_.cut_residual()));
    at = to.compute(Part::embedding, {pass, pass, pass}, at);
  }
  return std::move(to).finish(at);
}

/// Adds the memory of the loss, which runs beside the activations that the layer keeps or has kept.
void Transformer::hold_at_loss(const Block& loss, Block& block) {
  for (std::size_t pass = 0; pass < kPassKindCount; ++pass)
    if (loss.workspace[pass].total() > block.workspace[pass].total())
      block.workspace[pass] = loss.workspace[pass];
}

/// Returns a depth with its memory. Beside the layer and the loss it keeps the embedding of the next token
/// and the input of the projection; the norm before the previous depth's loss keeps that depth's output. If
/// whole layers are recomputed, the projection is too, and the embedding is kept in place of the layer's
/// input.
Block Transformer::depth() const {
  const LayerKind kind = kinds_.of_depth();
  const Block loss = head();
  Block block = layer(kind);
  ActivationSum own = nothing_kept(kind.recomputed);
  own.add(ActivationKind::residual, shape_.cut_residual());
  own.add_product_input(ActivationKind::residual, 2 * shape_.cut_residual());
  block.activations += own.kept();
  for (const PassKind pass : {PassKind::backward, PassKind::backward_input})
    block.in(pass).recomputed += own.again().total();
  hold_at_loss(loss, block);
  block.activations += loss.activations;
  block.activations[ActivationKind::vocabulary] += shape_.dropout_mask();
  // The projection keeps its input and the gradient of its output; the lookup keeps the gradient of its
  // output.
  ActivationSum waiting = nothing_kept({});
  waiting.add(ActivationKind::for_weights, shape_.cut_residual());
  waiting.add_product_input(ActivationKind::for_weights,
                            2 * shape_.cut_residual() + shape_.residual() / shape_.tensor);
  block.for_weights += loss.for_weights + waiting.kept().total();
  block.parameters += shape_.depth_parameters();
  block.tensors += shape_.depth_tensors();
  return block;
}

/// Writes a depth. All runs on one stream, so the loss of a depth comes before the next depth.
void Transformer::write_depth(Block& block, Workload& workload) const {
  const LayerKind kind = kinds_.of_depth();
  write_layer(block, kind, workload);
  Steps ahead = look_up(workload);
  append(ahead, project(Phase::forward, workload));
  append(ahead, std::exchange(block.of(PassKind::forward), {}));
  append(ahead, head_forward(workload));
  block.of(PassKind::forward) = std::move(ahead);
  for (const PassKind pass : backward_kinds(splits_backward(plan_))) {
    Steps back = head_backward(pass, workload);
    append(back, std::exchange(block.of(pass), {}));
    append(back, project_backward(pass, workload));
    append(back, embedding_backward(pass, workload));
    block.of(pass) = std::move(back);
  }
  if (!kind.recomputes_layers()) return;
  Steps again = project(Phase::recompute, workload);
  append(again, std::exchange(block.recompute, {}));
  block.recompute = std::move(again);
}

}  // namespace orrery
