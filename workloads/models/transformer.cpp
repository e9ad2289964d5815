// Transformers. Sharding over tensor ranks as in Megatron-LM (Shoeybi et al. 2019): the first
// product of attention and MLP is cut by columns, the second by rows, with one all-reduce each; with
// sequence parallelism (Korthikanti et al. 2022) the all-reduce becomes an all-gather before and a
// reduce-scatter after. Activation memory by Korthikanti et al. 2022, section 4, tensor by tensor.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "workloads/models/attention_work.hpp"
#include "workloads/models/expert_layer.hpp"
#include "workloads/models/step_builder.hpp"
#include "workloads/models/sub_blocks.hpp"
#include "workloads/models/transformer_shape.hpp"
#include "workloads/parallel/communicators.hpp"

namespace orrery {
namespace {

/// Both of a layer, attention first, or one of them.
using SubBlocks = std::span<const SubBlock>;

struct LayerParts {
  SubBlocks subs;
  const ExpertLayer* experts = nullptr;  ///< in place of the MLP
};

constexpr std::size_t kMostKernels = 12;  // that a sub-block usually has at once
constexpr std::size_t kUsualWorks = 32;   // with those of programs
constexpr std::size_t kUsualMessages = 16;

void append(std::vector<Kernel>& to, const std::vector<Kernel>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

class Transformer {
 public:
  explicit Transformer(const Experiment& experiment)
      : model_(experiment.model),
        plan_(experiment.plan),
        experiment_(experiment),
        software_(experiment.software),
        shape_(model_, plan_),
        products_(model_.lora_rank, shape_.element, software_.elementwise_traffic),
        shared_(shared_attention(CommunicatorSpec(plan_))) {}

  [[nodiscard]] ModelBlocks describe() const;
  void write_steps(ModelBlocks& blocks, Workload& workload) const;

 private:
  /// Bytes of a tensor-parallel collective that pass while the products beside it compute.
  [[nodiscard]] Bytes hidden() const {
    if (!tensor_parallel() || !plan_.sequence_parallel || !plan_.overlap_tensor_parallel) return 0;
    return static_cast<Bytes>(static_cast<double>(shape_.residual()) * software_.tensor_overlap);
  }
  /// Kernels beside the products, which a framework fuses more or less.
  [[nodiscard]] Kernel elementwise(Bytes bytes) const { return scaled(bytes, software_.elementwise_traffic); }
  /// Adds the gradients of one micro-batch to those of the ones before it.
  void accumulate(std::vector<Kernel>& kernels, std::int64_t parameters) const {
    if (software_.accumulation_bytes_per_parameter > 0)
      kernels.push_back(scaled(parameters, software_.accumulation_bytes_per_parameter));
  }
  [[nodiscard]] bool tensor_parallel() const { return shape_.tensor > 1; }
  [[nodiscard]] bool frozen() const { return model_.lora_rank > 0; }

  std::int32_t enter(StepBuilder& to, Part part, std::int32_t after, Bytes bytes) const;
  std::int32_t leave(StepBuilder& to, Part part, std::int32_t after, Bytes bytes) const;
  void move_beside(StepBuilder& to, Part part, std::int32_t after, int gathers) const;
  std::int32_t core(StepBuilder& to, Part part, const SubBlock& sub, bool back, std::vector<Kernel>& kernels,
                    std::int32_t after) const;
  std::int32_t forward(StepBuilder& to, Part part, SubBlocks subs, std::int32_t after) const;
  std::int32_t backward(StepBuilder& to, Part part, SubBlocks subs, std::int32_t after) const;
  std::int32_t backward_input(StepBuilder& to, Part part, SubBlocks subs, std::int32_t after) const;
  std::int32_t backward_weight(StepBuilder& to, Part part, SubBlocks subs, std::int32_t after) const;
  std::int32_t run(StepBuilder& to, PassKind kind, Part part, SubBlocks subs, std::int32_t after) const;
  [[nodiscard]] ExpertLayer experts() const;
  [[nodiscard]] Steps layer_steps(const LayerParts& parts, PassKind kind, Phase phase,
                                  Workload& workload) const;
  void write_layer(Block& block, bool with_experts, Workload& workload) const;
  void write_embedding(Block& block, Workload& workload) const;
  [[nodiscard]] Steps head_forward(Workload& workload) const;
  [[nodiscard]] Steps head_backward(PassKind kind, Workload& workload) const;
  [[nodiscard]] Steps embedding_backward(PassKind kind, Workload& workload) const;

  [[nodiscard]] static Block freeze(Block block) {
    block.frozen = block.parameters;
    block.frozen_tensors = block.tensors;
    return block;
  }
  [[nodiscard]] Block layer() const;
  [[nodiscard]] Block layer_with_experts() const;
  [[nodiscard]] Block embedding() const;
  [[nodiscard]] Block head() const;

  const Model& model_;
  const Plan& plan_;
  const Experiment& experiment_;
  const Software& software_;
  TransformerShape shape_;
  WeightProducts products_;
  const SharedAttention* shared_;  ///< how ranks share attention, or nullptr
};

/// Before a product cut by columns: sequence parallelism gathers its input.
std::int32_t Transformer::enter(StepBuilder& to, Part part, std::int32_t after, Bytes bytes) const {
  if (!tensor_parallel() || !plan_.sequence_parallel) return after;
  return to.collective(part, Collective::all_gather, bytes, after);
}

/// After a product cut by rows: its partial sums are added up.
std::int32_t Transformer::leave(StepBuilder& to, Part part, std::int32_t after, Bytes bytes) const {
  if (!tensor_parallel()) return after;
  const auto sum = plan_.sequence_parallel ? Collective::reduce_scatter : Collective::all_reduce;
  return to.collective(part, sum, bytes, after);
}

/// Products that work chunk by chunk hide part of their collectives: it moves while they compute.
void Transformer::move_beside(StepBuilder& to, Part part, std::int32_t after, int gathers) const {
  if (hidden() == 0) return;
  for (int i = 0; i < gathers; ++i) to.collective(part, Collective::all_gather, hidden(), after);
  to.collective(part, Collective::reduce_scatter, hidden(), after);
}

/// Adds what lies between the two products. Where ranks share attention, `kernels` run as a step before it,
/// and what comes next follows the step that is returned.
std::int32_t Transformer::core(StepBuilder& to, Part part, const SubBlock& sub, bool back,
                               std::vector<Kernel>& kernels, std::int32_t after) const {
  const std::vector<Kernel>& own = back ? sub.core_backward : sub.core;
  if (!sub.attends || shared_ == nullptr) {
    append(kernels, own);
    return after;
  }
  const std::int32_t inputs = to.compute(part, std::exchange(kernels, {}), after);
  const AttentionWork work{experiment_, shape_, part, own};
  return back ? shared_->backward(to, work, inputs) : shared_->forward(to, work, inputs);
}

std::int32_t Transformer::forward(StepBuilder& to, Part part, SubBlocks subs, std::int32_t after) const {
  const std::int32_t ready = enter(to, part, after, shape_.residual() - hidden());
  move_beside(to, part, ready, 1);
  std::vector<Kernel> kernels;
  kernels.reserve(kMostKernels);
  append(kernels, subs.front().before);  // a parallel block has one norm
  std::int32_t at = ready;
  for (const SubBlock& sub : subs) {
    products_.add(sub.first, kernels);
    at = core(to, part, sub, false, kernels, at);
    products_.add(sub.second, kernels);
  }
  append(kernels, subs.front().after);
  return leave(to, part, to.compute(part, std::move(kernels), at), shape_.residual() - hidden());
}

std::int32_t Transformer::backward(StepBuilder& to, Part part, SubBlocks subs, std::int32_t after) const {
  const std::int32_t ready = enter(to, part, after, shape_.residual() - hidden());
  // With sequence parallelism the input is gathered again for the weight gradient, beside the products.
  const std::int32_t input = enter(to, part, ready, shape_.residual() - hidden());
  move_beside(to, part, ready, 2);
  std::vector<Kernel> kernels;
  kernels.reserve(kMostKernels);
  append(kernels, subs.front().after);
  std::vector<Kernel> late;  // gradients of the first weights: nothing downstream waits for them
  late.reserve(4);
  std::int32_t at = ready;
  for (const SubBlock& sub : subs) {
    products_.add_input_gradient(sub.second, kernels);
    products_.add_weight_gradient(sub.second, kernels);
    at = core(to, part, sub, true, kernels, at);
    products_.add_input_gradient(sub.first, kernels);
    products_.add_weight_gradient(sub.first, late);
    accumulate(late, products_.trained_in(sub.first) + products_.trained_in(sub.second));
  }
  if (!plan_.overlap_tensor_parallel || !tensor_parallel()) {
    std::vector<Kernel>& rest =
        input == ready ? kernels : late;  // with a gather in between, a step of its own
    if (input == ready) append(kernels, late);
    rest.push_back(elementwise(3 * shape_.cut_residual()));
    std::int32_t done = to.compute(part, std::move(kernels), at);
    if (input != ready) done = to.compute(part, std::move(late), input);
    return leave(to, part, done, shape_.residual() - hidden());
  }
  const std::int32_t sum =
      leave(to, part, to.compute(part, std::move(kernels), at), shape_.residual() - hidden());
  to.compute(part, std::move(late), input);
  return to.compute(part, {elementwise(3 * shape_.cut_residual())}, sum);
}

std::int32_t Transformer::backward_input(StepBuilder& to, Part part, SubBlocks subs,
                                         std::int32_t after) const {
  const std::int32_t ready = enter(to, part, after, shape_.residual() - hidden());
  move_beside(to, part, ready, 1);
  std::vector<Kernel> kernels;
  kernels.reserve(kMostKernels);
  append(kernels, subs.front().after);
  std::int32_t at = ready;
  for (const SubBlock& sub : subs) {
    products_.add_input_gradient(sub.second, kernels);
    at = core(to, part, sub, true, kernels, at);
    products_.add_input_gradient(sub.first, kernels);
  }
  kernels.push_back(elementwise(3 * shape_.cut_residual()));
  return leave(to, part, to.compute(part, std::move(kernels), at), shape_.residual() - hidden());
}

/// The gradients of the outputs are still whole; sequence parallelism gathers the input again.
std::int32_t Transformer::backward_weight(StepBuilder& to, Part part, SubBlocks subs,
                                          std::int32_t after) const {
  std::vector<Kernel> kernels;
  kernels.reserve(kMostKernels);
  for (const SubBlock& sub : subs) {
    products_.add_weight_gradient(sub.second, kernels);
    products_.add_weight_gradient(sub.first, kernels);
    accumulate(kernels, products_.trained_in(sub.first) + products_.trained_in(sub.second));
  }
  if (kernels.empty()) return after;  // all of it is frozen
  const std::int32_t input = enter(to, part, after, shape_.residual() - hidden());
  if (hidden() > 0) to.collective(part, Collective::all_gather, hidden(), input);
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

Steps Transformer::layer_steps(const LayerParts& parts, PassKind kind, Phase phase,
                               Workload& workload) const {
  StepBuilder to(experiment_, workload, phase);
  const SubBlocks subs = parts.subs;
  std::int32_t out = kBlockInput;
  if (model_.parallel_block) {
    out = run(to, kind, Part::layer, subs, out);
    return std::move(to).finish(out);
  }
  for (const bool first : {true, false}) {
    if (first == (kind == PassKind::forward)) {
      out = run(to, kind, Part::attention, subs.first(1), out);
    } else if (parts.experts != nullptr) {
      out = parts.experts->run(to, kind, out);
    } else {
      out = run(to, kind, Part::mlp, subs.subspan(1, 1), out);
    }
  }
  return std::move(to).finish(out);
}

ExpertLayer Transformer::experts() const {
  const std::int64_t ffn = ExpertShape(model_, plan_, shape_).shared_ffn;
  if (ffn == 0) return {experiment_, shape_, {}};
  const SubBlock shared = shared_experts_sub_block(experiment_, shape_, ffn);
  return {experiment_, shape_, [this, shared](StepBuilder& to, PassKind kind, std::int32_t after) {
            return run(to, kind, Part::experts, SubBlocks(&shared, 1), after);
          }};
}

void Transformer::write_layer(Block& block, bool with_experts, Workload& workload) const {
  const std::array<SubBlock, 2> subs{attention_sub_block(experiment_, shape_),
                                     mlp_sub_block(experiment_, shape_)};
  const std::optional<ExpertLayer> mixture = with_experts ? std::optional(experts()) : std::nullopt;
  const LayerParts parts{subs, mixture ? &*mixture : nullptr};
  block.of(PassKind::forward) = layer_steps(parts, PassKind::forward, Phase::forward, workload);
  for (const PassKind kind : backward_kinds(splits_backward(plan_)))
    block.of(kind) = layer_steps(parts, kind, phase_of(kind), workload);
  if (plan_.recompute == Recompute::full) {
    block.recompute = layer_steps(parts, PassKind::forward, Phase::recompute, workload);
  } else if (plan_.recompute == Recompute::selective && model_.attention == Attention::core) {
    StepBuilder to(experiment_, workload, Phase::recompute);
    const std::int32_t core = to.compute(Part::attention, subs.front().core, kBlockInput);
    block.recompute = std::move(to).finish(core);
  }
}

Block Transformer::layer() const {
  Block block;
  block.activations = shape_.layer_activations(plan_.recompute);
  block.for_weights = shape_.layer_activations_for_weights();
  block.workspace = shape_.layer_activations(Recompute::none) - block.activations;
  block.parameters = shape_.layer_parameters();
  block.tensors = shape_.layer_tensors();
  block.frozen = frozen() ? block.parameters - shape_.adapter_parameters() : 0;
  block.frozen_tensors = frozen() ? block.tensors - shape_.adapter_tensors() : 0;
  return block;
}

Block Transformer::layer_with_experts() const {
  const ExpertShape experts(model_, plan_, shape_);
  Block block = layer();
  const Bytes kept = experts.activations() - shape_.mlp_activations();
  (plan_.recompute == Recompute::full ? block.workspace : block.activations) += kept;
  block.for_weights += experts.activations_for_weights() - shape_.mlp_activations_for_weights();
  block.expert_parameters = experts.expert_parameters();
  block.expert_tensors = experts.expert_tensors();
  block.parameters = shape_.layer_parameters_without_mlp() + experts.parameters() + block.expert_parameters;
  block.tensors += experts.tensors() + block.expert_tensors - 2 * (model_.biases ? 2 : 1);
  return block;
}

Block Transformer::embedding() const {
  Block block;
  block.activations = shape_.dropout_mask();
  block.for_weights = frozen() ? 0 : shape_.cut_residual();  // gradient of the output
  block.parameters = shape_.embedding_parameters();
  block.tensors = model_.positions == Positions::learned ? 2 : 1;
  return frozen() ? freeze(std::move(block)) : block;
}

void Transformer::write_embedding(Block& block, Workload& workload) const {
  const Bytes table =
      2 * shape_.residual() + (model_.positions == Positions::learned ? shape_.residual() : 0);
  StepBuilder ahead(experiment_, workload, Phase::forward);
  const std::int32_t looked_up =
      leave(ahead, Part::embedding, ahead.compute(Part::embedding, {memory(table)}, kBlockInput),
            shape_.residual());
  block.of(PassKind::forward) = std::move(ahead).finish(looked_up);
  for (const PassKind kind : backward_kinds(splits_backward(plan_)))
    block.of(kind) = embedding_backward(kind, workload);
}

/// All of it is a gradient of weights.
Steps Transformer::embedding_backward(PassKind kind, Workload& workload) const {
  StepBuilder back(experiment_, workload, phase_of(kind));
  if (frozen() || !completes_gradients(kind)) return std::move(back).finish(kBlockInput);
  const std::int32_t ready = enter(back, Part::embedding, kBlockInput, shape_.residual());
  // The gradient of the table is dense: cleared, then added to where tokens occur.
  std::vector<Kernel> kernels{memory(3 * shape_.residual() + shape_.vocab * model_.hidden * shape_.element)};
  accumulate(kernels, shape_.embedding_parameters());
  const std::int32_t added = back.compute(Part::embedding, std::move(kernels), ready);
  return std::move(back).finish(added);
}

Steps Transformer::head_forward(Workload& workload) const {
  const std::int64_t logits = shape_.tokens * shape_.vocab;
  StepBuilder to(experiment_, workload, Phase::forward);
  const std::int32_t ready = enter(to, Part::head, kBlockInput, shape_.residual());
  std::int32_t out =
      to.compute(Part::head,
                 {elementwise(2 * shape_.cut_residual()), gemm(shape_.tokens, shape_.vocab, model_.hidden),
                  scaled(logits, software_.forward_bytes_per_logit)},
                 ready);
  if (tensor_parallel()) {
    // Vocabulary-parallel cross-entropy adds up maximum, target logit and sum of exponentials.
    for (int i = 0; i < 3; ++i)
      out = to.collective(Part::head, Collective::all_reduce, shape_.tokens * 4, out);
  }
  return std::move(to).finish(out);
}

Steps Transformer::head_backward(PassKind kind, Workload& workload) const {
  const std::int64_t logits = shape_.tokens * shape_.vocab;
  const Kernel product = gemm(shape_.tokens, shape_.vocab, model_.hidden);
  StepBuilder to(experiment_, workload, phase_of(kind));
  const bool trains = completes_gradients(kind) && !frozen();
  if (kind == PassKind::backward_weight && !trains) return std::move(to).finish(kBlockInput);
  // Before the weight gradient, sequence parallelism gathers the input again.
  const std::int32_t input = trains ? enter(to, Part::head, kBlockInput, shape_.residual()) : kBlockInput;
  std::vector<Kernel> gradient{scaled(logits, software_.backward_bytes_per_logit), input_gradient(product)};
  std::vector<Kernel> kernels;
  if (kind == PassKind::backward) to.compute(Part::head, std::move(gradient), kBlockInput);
  if (kind == PassKind::backward_input) kernels = std::move(gradient);
  if (trains) {
    kernels.push_back(weight_gradient(product));
    accumulate(kernels, shape_.vocab * model_.hidden);
  }
  if (hands_on(kind)) kernels.push_back(elementwise(3 * shape_.cut_residual()));
  const std::int32_t done = to.compute(Part::head, std::move(kernels), input);
  const std::int32_t sum = hands_on(kind) ? leave(to, Part::head, done, shape_.residual()) : done;
  return std::move(to).finish(sum);
}

Block Transformer::head() const {
  Block block;
  block.activations = shape_.head_activations();
  block.for_weights = frozen() ? 0 : block.activations;  // input and gradient of the logits
  block.parameters = shape_.head_parameters();
  block.tensors = shape_.head_tensors();
  return frozen() ? freeze(std::move(block)) : block;
}

ModelBlocks Transformer::describe() const {
  ModelBlocks blocks;
  blocks.kinds.reserve(4);
  blocks.kinds.push_back(layer());
  blocks.kinds.push_back(embedding());
  blocks.kinds.push_back(head());
  if (model_.moe_layers() > 0) blocks.kinds.push_back(layer_with_experts());
  for (std::int64_t layer = 0; layer < model_.layers; ++layer)
    blocks.layers.push_back(model_.has_experts(layer) ? 3 : 0);
  blocks.embedding = 1;
  blocks.head = 2;
  blocks.tied_are_trained = !frozen();
  blocks.tied_parameters = model_.tied_embeddings ? shape_.vocab * model_.hidden : 0;
  const bool sliced = plan_.sequence_parallel && tensor_parallel();
  blocks.boundaries.assign(blocks.layers.size() + 1, {shape_.residual(), sliced, sliced});
  blocks.model_flops = transformer_model_flops(model_, plan_.global_batch_size);
  blocks.recompute_flops = transformer_recompute_flops(model_, plan_.global_batch_size, plan_.recompute);
  return blocks;
}

void Transformer::write_steps(ModelBlocks& blocks, Workload& workload) const {
  workload.kernel_sequences.reserve(kUsualWorks);
  workload.messages.reserve(kUsualMessages);
  if (model_.moe_layers() < model_.layers) write_layer(blocks.kinds[0], false, workload);
  if (model_.moe_layers() > 0) write_layer(blocks.kinds[3], true, workload);
  write_embedding(blocks.kinds[1], workload);
  Block& head = blocks.kinds[2];
  head.of(PassKind::forward) = head_forward(workload);
  for (const PassKind kind : backward_kinds(splits_backward(plan_)))
    head.of(kind) = head_backward(kind, workload);
}

}  // namespace

ModelBlocks describe_transformer(const Experiment& experiment) { return Transformer(experiment).describe(); }

void write_transformer_steps(const Experiment& experiment, ModelBlocks& blocks, Workload& workload) {
  Transformer(experiment).write_steps(blocks, workload);
}

}  // namespace orrery
