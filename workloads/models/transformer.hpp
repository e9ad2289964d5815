// Builds the blocks of a transformer on one rank. Inside workloads/models/ only: transformer.cpp has the
// layers, vocabulary.cpp the embedding and the head, multi_token.cpp the prediction of further tokens,
// encoder_decoder.cpp the parts that join two stacks of layers.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "workloads/communicators/communicators.hpp"
#include "workloads/models/expert_layer.hpp"
#include "workloads/models/layer_kinds.hpp"
#include "workloads/models/step_builder.hpp"
#include "workloads/models/sub_blocks.hpp"
#include "workloads/models/transformer_shape.hpp"

namespace orrery {

/// Puts steps behind others, whose output is their input.
void append(Steps& to, Steps more);

/// Both of a layer, attention first, or one of them.
using SubBlocks = std::span<const SubBlock>;

/// The halves of a layer, of which it may lack one; in place of the MLP there may be experts.
struct LayerHalves {
  LayerContent content;
  std::array<SubBlock, 2> subs;
  std::optional<SubBlock> cross;  ///< attention to the encoder's output, between them
  std::optional<ExpertLayer> experts;
};

class Transformer;

/// An experiment whose layers all have the heads and the width of some layers of another one.
struct LayerVariant;

class Transformer {
 public:
  /// `encodes`: its tokens are those of an encoder.
  explicit Transformer(const Experiment& experiment, bool encodes = false);
  ~Transformer();
  Transformer(const Transformer&) = delete;
  Transformer& operator=(const Transformer&) = delete;

  [[nodiscard]] ModelBlocks describe() const;
  void write_steps(ModelBlocks& blocks, Workload& workload) const;

 private:
  /// Bytes of a tensor-parallel collective that pass while the products beside it compute.
  [[nodiscard]] Bytes overlapped_bytes() const {
    if (!plan_.hides_tensor_collectives()) return 0;
    return static_cast<Bytes>(static_cast<double>(shape_.residual()) * software_.tensor_overlap);
  }
  /// Kernels beside the products, which a framework fuses more or less.
  [[nodiscard]] Kernel elementwise(Bytes bytes) const { return scaled(bytes, software_.elementwise_traffic); }
  /// Adds the gradients of one micro-batch to those of the ones before it.
  void accumulate(std::vector<Kernel>& kernels, std::int64_t parameters) const {
    if (software_.accumulation_bytes_per_parameter > 0)
      kernels.push_back(
          as(KernelClass::accumulation, scaled(parameters, software_.accumulation_bytes_per_parameter)));
  }
  /// Adds the accumulation of gradients of products; their kernels accumulate by themselves if the software
  /// fuses it.
  void accumulate_products(std::vector<Kernel>& kernels, std::int64_t parameters) const {
    if (frozen() || !software_.fuses_accumulation) accumulate(kernels, parameters);
  }
  /// Parameters that have a gradient.
  [[nodiscard]] std::int64_t trained_in(const SubBlock& sub) const {
    std::int64_t sum = products_.trained_in(sub.second);
    for (const Weight& weight : sub.first) sum += products_.trained_in(weight);
    return sum;
  }
  [[nodiscard]] bool tensor_parallel() const { return shape_.tensor > 1; }
  /// Gradients go into buckets right away.
  [[nodiscard]] bool shards_gradients() const { return plan_.zero_stage == 3 && plan_.sharding_ranks() > 1; }
  [[nodiscard]] bool frozen() const { return model_.lora_rank > 0; }

  std::int32_t gather_input(StepBuilder& to, Part part, std::int32_t after, Bytes bytes) const;
  std::int32_t reduce_output(StepBuilder& to, Part part, std::int32_t after, Bytes bytes) const;
  void overlap_collectives(StepBuilder& to, Part part, std::int32_t after, int gathers) const;
  std::int32_t run_core(StepBuilder& to, Part part, const SubBlock& sub, bool back,
                        std::vector<Kernel>& kernels, std::int32_t after) const;
  std::int32_t exchange_heads(StepBuilder& to, Part part, const SubBlock& sub, bool back,
                              std::vector<Kernel>& kernels, std::int32_t after) const;
  std::int32_t forward(StepBuilder& to, Part part, SubBlocks subs, std::int32_t after) const;
  std::int32_t backward(StepBuilder& to, Part part, SubBlocks subs, std::int32_t after) const;
  std::int32_t backward_input(StepBuilder& to, Part part, SubBlocks subs, std::int32_t after) const;
  std::int32_t backward_weight(StepBuilder& to, Part part, SubBlocks subs, std::int32_t after) const;
  std::int32_t run(StepBuilder& to, PassKind kind, Part part, SubBlocks subs, std::int32_t after) const;
  [[nodiscard]] ExpertLayer experts() const;
  std::int32_t run_product(StepBuilder& to, PassKind kind, MlpPart part, const SubBlock& sub,
                           std::int32_t after) const;
  void add_products(PassKind kind, MlpPart part, const SubBlock& sub, std::vector<Kernel>& kernels) const;
  /// That which has the sizes of such layers: this one, or a variant.
  [[nodiscard]] const Transformer& of(const LayerContent& content) const;
  [[nodiscard]] bool has_sizes_of(const LayerContent& content) const;
  [[nodiscard]] LayerHalves halves_of(const LayerContent& content) const;
  std::int32_t run_layer(StepBuilder& to, PassKind kind, const LayerHalves& halves, std::int32_t after) const;
  std::int32_t run_attention(StepBuilder& to, PassKind kind, const LayerHalves& halves,
                             std::int32_t after) const;
  std::int32_t run_cross(StepBuilder& to, PassKind kind, const SubBlock& sub, std::int32_t after) const;
  std::int32_t run_mlp(StepBuilder& to, PassKind kind, const LayerHalves& halves, std::int32_t after) const;
  [[nodiscard]] Steps recompute_layers(const LayerKind& kind, Workload& workload) const;
  [[nodiscard]] Steps recompute_modules(const LayerHalves& halves, ModuleSet modules,
                                        Workload& workload) const;
  std::int32_t run_again(StepBuilder& to, Part part, SubBlock sub, ModuleSet modules,
                         std::int32_t after) const;
  std::int32_t run_operations_again(StepBuilder& to, Part part, const SubBlock& sub,
                                    std::int32_t after) const;
  void write_layer(Block& block, const LayerKind& kind, Workload& workload) const;
  void write_depth(Block& block, Workload& workload) const;
  [[nodiscard]] Kernel projection() const;
  [[nodiscard]] Steps project(Phase phase, Workload& workload) const;
  [[nodiscard]] Steps project_backward(PassKind kind, Workload& workload) const;
  void write_embedding(Block& block, Workload& workload) const;
  [[nodiscard]] Steps look_up(Workload& workload) const;
  [[nodiscard]] std::int64_t loss_chunks() const;
  [[nodiscard]] std::vector<Kernel> chunked_loss() const;
  [[nodiscard]] Steps head_forward(Workload& workload) const;
  [[nodiscard]] Steps head_backward(PassKind kind, Workload& workload) const;
  [[nodiscard]] Steps embedding_backward(PassKind kind, Workload& workload) const;

  [[nodiscard]] static Block freeze(Block block) {
    block.frozen = block.parameters;
    block.frozen_tensors = block.tensors;
    return block;
  }
  [[nodiscard]] Block layer(const LayerKind& kind) const;
  void hold_activations(const LayerKind& kind, Block& block) const;
  void hold_weight_gradients(const LayerContent& content, Block& block) const;
  [[nodiscard]] WorkspaceBytes gradients_of(const LayerContent& content) const;
  [[nodiscard]] Bytes recomputed_by(const LayerKind& kind, const ActivationSum& own) const;
  [[nodiscard]] ActivationSum nothing_kept(ModuleSet recomputed) const;
  [[nodiscard]] ActivationSum activations_of(const LayerContent& content, ModuleSet recomputed) const;
  [[nodiscard]] std::int32_t exchanges_of(const LayerContent& content) const;
  [[nodiscard]] std::int32_t exchanges_again(const LayerKind& kind) const;
  [[nodiscard]] Bytes waits_for_weights(const LayerContent& content) const;
  void size_layer(const LayerContent& content, Block& block) const;
  void list_matrices(const LayerContent& content, Block& block) const;
  void add_experts(Block& block) const;
  void hold_table_gradient(std::int64_t weights, Block& block) const;
  static void hold_at_loss(const Block& loss, Block& block);
  [[nodiscard]] Block depth() const;
  [[nodiscard]] Block bridge() const;
  void hold_encoder_output(Block& block) const;
  void write_bridge(Block& block, Workload& workload) const;
  [[nodiscard]] const Transformer& at_entrance() const;
  [[nodiscard]] std::vector<Boundary> boundaries() const;
  [[nodiscard]] Block embedding() const;
  [[nodiscard]] Block head() const;

  const Model& model_;
  const Plan& plan_;
  const Experiment& experiment_;
  const Software& software_;
  TransformerShape shape_;
  WeightProducts products_;
  bool encodes_;
  const SharedAttention* shared_;  ///< how ranks share attention, or nullptr
  LayerKinds kinds_;
  std::vector<std::unique_ptr<LayerVariant>> variants_;
};

struct LayerVariant {
  LayerVariant(Experiment changed, bool encodes)
      : experiment(std::move(changed)), transformer(experiment, encodes) {}

  Experiment experiment;
  Transformer transformer;
};

}  // namespace orrery
