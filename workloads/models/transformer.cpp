// Transformers. Sharding over tensor ranks as in Megatron-LM (Shoeybi et al. 2019): the first
// product of attention and MLP is cut by columns, the second by rows, with one all-reduce each; with
// sequence parallelism (Korthikanti et al. 2022) the all-reduce becomes an all-gather before and a
// reduce-scatter after. Activation memory by Korthikanti et al. 2022, section 4, tensor by tensor.
#include "workloads/models/transformer.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "workloads/models/attention_work.hpp"
#include "workloads/models/encoder_decoder.hpp"
#include "workloads/models/recurrence.hpp"

namespace orrery {
namespace {

constexpr std::size_t kMostKernels = 12;  // that a sub-block usually has at once
constexpr std::size_t kUsualWorks = 32;   // with those of programs
constexpr std::size_t kUsualMessages = 16;

void append(std::vector<Kernel>& to, const std::vector<Kernel>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

/// Before a product cut by columns: sequence parallelism gathers its input, of which products may hide all.
std::int32_t Transformer::gather_input(StepBuilder& to, Part part, std::int32_t after, Bytes bytes) const {
  if (!tensor_parallel() || !plan_.sequence_parallel || bytes == 0) return after;
  return to.collective(part, Collective::all_gather, bytes, after);
}

/// After a product cut by rows: its partial sums are added up.
std::int32_t Transformer::reduce_output(StepBuilder& to, Part part, std::int32_t after, Bytes bytes) const {
  if (!tensor_parallel() || bytes == 0) return after;
  const auto sum = plan_.sequence_parallel ? Collective::reduce_scatter : Collective::all_reduce;
  return to.collective(part, sum, bytes, after);
}

/// Products that work chunk by chunk hide part of their collectives: it moves while they compute.
void Transformer::overlap_collectives(StepBuilder& to, Part part, std::int32_t after, int gathers) const {
  if (overlapped_bytes() == 0) return;
  for (int i = 0; i < gathers; ++i) to.collective(part, Collective::all_gather, overlapped_bytes(), after);
  to.collective(part, Collective::reduce_scatter, overlapped_bytes(), after);
}

/// Adds the kernels between the two products. If ranks share attention, `kernels` run as a step before it,
/// and later steps follow the step that is returned.
std::int32_t Transformer::run_core(StepBuilder& to, Part part, const SubBlock& sub, bool back,
                                   std::vector<Kernel>& kernels, std::int32_t after) const {
  const std::vector<Kernel>& own = back ? sub.core_backward : sub.core;
  if (sub.half == SubBlock::Half::recurrence && plan_.context_parallel > 1)
    return exchange_heads(to, part, sub, back, kernels, after);
  if (!sub.attends() || shared_ == nullptr) {
    append(kernels, own);
    return after;
  }
  const std::int32_t inputs = kernels.empty() ? after : to.compute(part, std::exchange(kernels, {}), after);
  const AttentionWork work{experiment_, shape_, part, own};
  return back ? shared_->backward(to, work, inputs) : shared_->forward(to, work, inputs);
}

/// Ranks that share sequences exchange tokens for heads, as in Megatron-Core (MambaContextParallel): each
/// runs its share of the heads over whole sequences, which is as much as all heads over its share of the
/// tokens.
std::int32_t Transformer::exchange_heads(StepBuilder& to, Part part, const SubBlock& sub, bool back,
                                         std::vector<Kernel>& kernels, std::int32_t after) const {
  const auto exchange = [&](std::int64_t width, std::int32_t at) {
    return to.collective(part, Collective::all_to_all, shape_.tokens * width * shape_.element, at,
                         Slot::context);
  };
  const std::int64_t made = sub.first.front().product.n;
  const std::int64_t read = sub.second.product.k;
  std::int32_t at = kernels.empty() ? after : to.compute(part, std::exchange(kernels, {}), after);
  at = exchange(back ? read : made, at);
  at = to.compute(part, back ? sub.core_backward : sub.core, at);
  return exchange(back ? made : read, at);
}

std::int32_t Transformer::forward(StepBuilder& to, Part part, SubBlocks subs, std::int32_t after) const {
  const std::int32_t ready = gather_input(to, part, after, shape_.residual() - overlapped_bytes());
  overlap_collectives(to, part, ready, 1);
  std::vector<Kernel> kernels;
  kernels.reserve(kMostKernels);
  append(kernels, subs.front().before);  // a parallel block has one norm
  std::int32_t at = ready;
  for (const SubBlock& sub : subs) {
    for (const Weight& weight : sub.first) products_.add(weight, kernels);
    append(kernels, sub.inner_norms);
    at = run_core(to, part, sub, false, kernels, at);
    append(kernels, sub.gate);
    products_.add(sub.second, kernels);
  }
  append(kernels, subs.front().after);
  return reduce_output(to, part, to.compute(part, std::move(kernels), at),
                       shape_.residual() - overlapped_bytes());
}

std::int32_t Transformer::backward(StepBuilder& to, Part part, SubBlocks subs, std::int32_t after) const {
  const std::int32_t ready = gather_input(to, part, after, shape_.residual() - overlapped_bytes());
  // With sequence parallelism the input is gathered again for the weight gradient, beside the products.
  const std::int32_t input = gather_input(to, part, ready, shape_.residual() - overlapped_bytes());
  overlap_collectives(to, part, ready, 2);
  std::vector<Kernel> kernels;
  kernels.reserve(kMostKernels);
  append(kernels, subs.front().after);
  std::vector<Kernel> late;  // gradients of the first weights: nothing downstream waits for them
  late.reserve(4);
  std::int32_t at = ready;
  for (const SubBlock& sub : subs) {
    products_.add_input_gradient(sub.second, kernels);
    products_.add_weight_gradient(sub.second, kernels);
    append(kernels, sub.gate_backward);
    at = run_core(to, part, sub, true, kernels, at);
    append(kernels, sub.inner_norms_backward);
    for (const Weight& weight : sub.first) products_.add_input_gradient(weight, kernels);
    for (const Weight& weight : sub.first) products_.add_weight_gradient(weight, late);
    accumulate_products(late, trained_in(sub));
  }
  if (!plan_.overlap_tensor_parallel || !tensor_parallel()) {
    std::vector<Kernel>& rest =
        input == ready ? kernels : late;  // with a gather in between, a step of its own
    if (input == ready) append(kernels, late);
    rest.push_back(as(KernelClass::norm, elementwise(3 * shape_.cut_residual())));
    std::int32_t done = to.compute(part, std::move(kernels), at);
    if (input != ready) done = to.compute(part, std::move(late), input);
    return reduce_output(to, part, done, shape_.residual() - overlapped_bytes());
  }
  const std::int32_t sum = reduce_output(to, part, to.compute(part, std::move(kernels), at),
                                         shape_.residual() - overlapped_bytes());
  to.compute(part, std::move(late), input);
  return to.compute(part, {as(KernelClass::norm, elementwise(3 * shape_.cut_residual()))}, sum);
}

std::int32_t Transformer::backward_input(StepBuilder& to, Part part, SubBlocks subs,
                                         std::int32_t after) const {
  const std::int32_t ready = gather_input(to, part, after, shape_.residual() - overlapped_bytes());
  overlap_collectives(to, part, ready, 1);
  std::vector<Kernel> kernels;
  kernels.reserve(kMostKernels);
  append(kernels, subs.front().after);
  std::int32_t at = ready;
  for (const SubBlock& sub : subs) {
    products_.add_input_gradient(sub.second, kernels);
    append(kernels, sub.gate_backward);
    at = run_core(to, part, sub, true, kernels, at);
    append(kernels, sub.inner_norms_backward);
    for (const Weight& weight : sub.first) products_.add_input_gradient(weight, kernels);
  }
  kernels.push_back(as(KernelClass::norm, elementwise(3 * shape_.cut_residual())));
  return reduce_output(to, part, to.compute(part, std::move(kernels), at),
                       shape_.residual() - overlapped_bytes());
}

/// The gradients of the outputs are still whole; sequence parallelism gathers the input again.
std::int32_t Transformer::backward_weight(StepBuilder& to, Part part, SubBlocks subs,
                                          std::int32_t after) const {
  std::vector<Kernel> kernels;
  kernels.reserve(kMostKernels);
  for (const SubBlock& sub : subs) {
    products_.add_weight_gradient(sub.second, kernels);
    for (const Weight& weight : sub.first) products_.add_weight_gradient(weight, kernels);
    accumulate_products(kernels, trained_in(sub));
  }
  if (kernels.empty()) return after;  // all of it is frozen
  const std::int32_t input = gather_input(to, part, after, shape_.residual() - overlapped_bytes());
  if (overlapped_bytes() > 0) to.collective(part, Collective::all_gather, overlapped_bytes(), input);
  return to.compute(part, std::move(kernels), input);
}

std::int32_t Transformer::run(StepBuilder& to, PassKind kind, Part part, SubBlocks subs,
                              std::int32_t after) const {
  switch (kind) {
    case PassKind::forward:
      return forward(to, part, subs, after);
    case PassKind::backward:
      return backward(to, part, subs, after);
    case PassKind::backward_input:
      return backward_input(to, part, subs, after);
    case PassKind::backward_weight:
      break;
  }
  return backward_weight(to, part, subs, after);
}

std::int32_t Transformer::run_layer(StepBuilder& to, PassKind kind, const LayerHalves& halves,
                                    std::int32_t after) const {
  if (model_.parallel_block) return run(to, kind, Part::layer, halves.subs, after);
  std::int32_t out = after;
  for (const bool first : {true, false}) {
    const bool attention = first == (kind == PassKind::forward);
    out = attention ? run_attention(to, kind, halves, out) : run_mlp(to, kind, halves, out);
  }
  return out;
}

std::int32_t Transformer::run_attention(StepBuilder& to, PassKind kind, const LayerHalves& halves,
                                        std::int32_t after) const {
  std::int32_t out = after;
  if (halves.cross && kind != PassKind::forward) out = run_cross(to, kind, *halves.cross, out);
  if (halves.content.mixes()) {
    const Part part = halves.content.recurs() ? Part::recurrence : Part::attention;
    out = run(to, kind, part, SubBlocks(halves.subs).first(1), out);
  }
  if (halves.cross && kind == PassKind::forward) out = run_cross(to, kind, *halves.cross, out);
  return out;
}

std::int32_t Transformer::run_mlp(StepBuilder& to, PassKind kind, const LayerHalves& halves,
                                  std::int32_t after) const {
  if (halves.experts) return halves.experts->run(to, kind, after);
  if (halves.content.mlp == LayerMlp::none) return after;
  return run(to, kind, Part::mlp, SubBlocks(halves.subs).subspan(1, 1), after);
}

LayerHalves Transformer::halves_of(const LayerContent& content) const {
  LayerHalves halves{content, {}, {}, {}};
  halves.subs = {content.recurs() ? recurrence_sub_block(experiment_, shape_, content.mixer)
                                  : attention_sub_block(experiment_, shape_, content),
                 mlp_sub_block(experiment_, shape_)};
  if (content.crosses) halves.cross = cross_attention_sub_block(experiment_, shape_);
  if (content.has_experts()) halves.experts.emplace(experts());
  return halves;
}

void Transformer::write_layer(Block& block, const LayerKind& kind, Workload& workload) const {
  const Transformer& own = of(kind.content);
  const LayerHalves halves = own.halves_of(kind.content);
  const auto steps = [&](PassKind pass) {
    StepBuilder to(experiment_, workload, phase_of(pass));
    const std::int32_t out = own.run_layer(to, pass, halves, kBlockInput);
    return std::move(to).finish(out);
  };
  block.of(PassKind::forward) = steps(PassKind::forward);
  for (const PassKind pass : backward_kinds(splits_backward(plan_))) block.of(pass) = steps(pass);
  block.recompute = kind.recomputes_layers() ? recompute_layers(kind, workload)
                                             : own.recompute_modules(halves, kind.recomputed, workload);
}

/// The backward pass of the last layer of a group computes all of them again.
Steps Transformer::recompute_layers(const LayerKind& kind, Workload& workload) const {
  StepBuilder to(experiment_, workload, Phase::recompute);
  std::int32_t out = kBlockInput;
  if (kind.ends_group) {
    for (const LayerContent& content : kinds_.group_up_to(kind))
      out = of(content).run_layer(to, PassKind::forward, of(content).halves_of(content), out);
  }
  return std::move(to).finish(out);
}

Steps Transformer::recompute_modules(const LayerHalves& halves, ModuleSet modules, Workload& workload) const {
  StepBuilder to(experiment_, workload, Phase::recompute);
  std::int32_t out = kBlockInput;
  if (halves.content.attends()) out = run_again(to, Part::attention, halves.subs[0], modules, out);
  if (halves.content.recurs() && modules.has(Module::norm))
    out = to.compute(Part::recurrence, halves.subs[0].before, out);
  if (halves.cross) {
    if (modules.has(Module::attention))
      out = gather_input(to, Part::attention, out, EncoderOutput(model_, plan_, shape_).bytes);
    out = run_again(to, Part::attention, *halves.cross, modules, out);
  }
  if (halves.experts) {
    out = halves.experts->run_again(to, modules, out);
  } else if (halves.content.mlp != LayerMlp::none) {
    SubBlock mlp = halves.subs[1];
    if (model_.parallel_block) mlp.before.clear();  // it has one norm
    out = run_again(to, Part::mlp, std::move(mlp), modules, out);
  }
  return std::move(to).finish(out);
}

/// Half of a layer. Its last product is not followed by the sum with the residual stream, which is kept.
std::int32_t Transformer::run_again(StepBuilder& to, Part part, SubBlock sub, ModuleSet modules,
                                    std::int32_t after) const {
  sub.after.clear();
  if (!modules.meets({Module::norm, Module::operations})) sub.before.clear();
  if (modules.has(sub.attends() ? Module::attention : Module::mlp))
    return forward(to, part, SubBlocks(&sub, 1), after);
  if (modules.has(Module::operations)) return run_operations_again(to, part, sub, after);
  std::vector<Kernel> kernels = sub.before;
  std::int32_t at = after;
  if (sub.attends() && modules.has(Module::latent_projection))
    append(kernels, latent_projections(model_, shape_.own_heads(), shape_.tokens));
  if (modules.has(sub.attends() ? Module::core_attention : Module::activation))
    at = run_core(to, part, sub, false, kernels, at);
  return kernels.empty() ? at : to.compute(part, std::move(kernels), at);
}

/// Products in order: queries, keys, values, projection, then gate, up and down, or up and down.
std::int32_t Transformer::run_operations_again(StepBuilder& to, Part part, const SubBlock& sub,
                                               std::int32_t after) const {
  std::vector<Kernel> kernels = sub.before;
  if (sub.attends())
    kernels.push_back(gemm(shape_.tokens, shape_.kv_heads * model_.query_dim(), model_.hidden));
  if (!sub.attends() && model_.gated_mlp) kernels.push_back(gemm(shape_.tokens, shape_.ffn, model_.hidden));
  if (!sub.attends()) append(kernels, sub.core);
  if (sub.attends() || !model_.gated_mlp) products_.add(sub.second, kernels);
  return to.compute(part, std::move(kernels), gather_input(to, part, after, shape_.residual()));
}

ModelBlocks Transformer::describe() const {
  ModelBlocks blocks;
  blocks.kinds.reserve(6);
  for (const LayerKind& kind : kinds_.list()) blocks.kinds.push_back(layer(kind));
  blocks.embedding = static_cast<std::int32_t>(blocks.kinds.size());
  blocks.kinds.push_back(at_entrance().embedding());
  blocks.head = blocks.embedding + 1;
  blocks.kinds.push_back(head());
  if (model_.multi_token_prediction > 0) {
    blocks.depth = blocks.head + 1;
    blocks.depths = model_.multi_token_prediction;
    blocks.kinds.push_back(depth());
  }
  if (model_.encoder_layers > 0) {
    blocks.bridge = static_cast<std::int32_t>(blocks.kinds.size());
    blocks.bridged_layer = model_.encoder_layers;
    blocks.kinds.push_back(bridge());
  }
  blocks.layers = kinds_.of_layers();
  blocks.tied_are_trained = !frozen();
  blocks.tied_parameters = model_.embeds_again() ? shape_.vocab * model_.hidden : 0;
  blocks.tied_head = model_.tied_embeddings || model_.multi_token_prediction > 0;
  blocks.boundaries = boundaries();
  blocks.model_flops = transformer_model_flops(model_, plan_.global_batch_size);
  blocks.recompute_flops = recompute_flops(model_, plan_, kinds_);
  return blocks;
}

/// Returns the boundaries of the layers. Stages of a decoder pass on the encoder's output beside their own
/// stream, and its gradient back.
std::vector<Boundary> Transformer::boundaries() const {
  const bool sliced = plan_.sequence_parallel && tensor_parallel();
  std::vector<Boundary> all(static_cast<std::size_t>(model_.all_layers()) + 1,
                            {shape_.residual(), sliced, sliced});
  if (model_.encoder_layers == 0) return all;
  const Bytes encoded = EncoderOutput(model_, plan_, shape_).bytes;
  const auto behind = static_cast<std::size_t>(model_.encoder_layers) + 1;
  for (std::size_t i = 0; i < all.size(); ++i) all[i].bytes = encoded + (i < behind ? 0 : shape_.residual());
  return all;
}

void Transformer::write_steps(ModelBlocks& blocks, Workload& workload) const {
  workload.kernel_sequences.reserve(kUsualWorks);
  workload.messages.reserve(kUsualMessages);
  for (std::size_t i = 0; i < kinds_.list().size(); ++i)
    write_layer(blocks.kinds[i], kinds_.list()[i], workload);
  at_entrance().write_embedding(blocks.kinds[static_cast<std::size_t>(blocks.embedding)], workload);
  if (blocks.bridge >= 0) write_bridge(blocks.kinds[static_cast<std::size_t>(blocks.bridge)], workload);
  Block& head = blocks.kinds[static_cast<std::size_t>(blocks.head)];
  head.of(PassKind::forward) = head_forward(workload);
  for (const PassKind kind : backward_kinds(splits_backward(plan_)))
    head.of(kind) = head_backward(kind, workload);
  if (blocks.depths > 0) write_depth(blocks.kinds[static_cast<std::size_t>(blocks.depth)], workload);
}

ModelBlocks describe_transformer(const Experiment& experiment) { return Transformer(experiment).describe(); }

void write_transformer_steps(const Experiment& experiment, ModelBlocks& blocks, Workload& workload) {
  Transformer(experiment).write_steps(blocks, workload);
}

}  // namespace orrery
