// Builds the half of a transformer layer that is a mixture of experts, by its steps on one rank: norm,
// router, tokens to their experts, the products of all experts of the rank at once (grouped), tokens back,
// weighted sum.
#pragma once

#include <functional>
#include <vector>

#include "workloads/models/expert_shape.hpp"
#include "workloads/models/layer_products.hpp"
#include "workloads/models/step_builder.hpp"

namespace orrery {

/// Names the parts of an MLP that are run: all of it, or one of its products with its other kernels.
enum class MlpPart : std::uint8_t { all, first_run, last_run };

class ExpertLayer {
 public:
  /// Writes a pass through the shared experts, or part of it, after a step, and returns the step that
  /// completes it.
  using SharedExperts = std::function<std::int32_t(StepBuilder&, PassKind, MlpPart, std::int32_t)>;

  /// `shared`: empty where there are none. Keeps references.
  ExpertLayer(const Experiment& experiment, const TransformerShape& shape, SharedExperts shared);

  /// Writes a pass after a step, and returns the step that completes it.
  std::int32_t run(StepBuilder& to, PassKind kind, std::int32_t after) const;
  /// Writes the recomputation of those modules of the forward pass.
  std::int32_t run_again(StepBuilder& to, ModuleSet modules, std::int32_t after) const;

 private:
  std::int32_t forward(StepBuilder& to, std::int32_t after) const;
  std::int32_t backward(StepBuilder& to, PassKind kind, std::int32_t after) const;
  std::int32_t backward_weight(StepBuilder& to, std::int32_t after) const;
  std::int32_t run_shared(StepBuilder& to, PassKind kind, MlpPart part, std::int32_t after) const;
  [[nodiscard]] bool overlaps_shared() const { return shared_ && plan_.overlap_shared_experts; }
  /// Holds the step after which tokens have arrived, and that of the shared experts.
  struct Sent {
    std::int32_t there = 0;
    std::int32_t shared = 0;
  };
  Sent send(StepBuilder& to, PassKind kind, std::int32_t after) const;
  std::int32_t finish(StepBuilder& to, PassKind kind, const Sent& sent, std::int32_t back,
                      std::vector<Kernel> kernels, Kernel last) const;
  std::int32_t wait_for_router(StepBuilder& to, std::int32_t after) const;
  std::int32_t dispatch(StepBuilder& to, std::int32_t after) const;
  std::int32_t combine(StepBuilder& to, std::int32_t after) const;
  std::int32_t exchange(StepBuilder& to, Bytes bytes, Slot communicator, StepBuilder::Wire wire,
                        std::int32_t after) const;
  /// Describes a step of an exchange over nodes: its communicator, and the bytes that a rank sends.
  struct Hop {
    Slot communicator;
    Bytes bytes;
  };
  std::int32_t in_chunks(StepBuilder& to, const Hop& first, const Hop& second, StepBuilder::Wire wire,
                         std::int32_t after) const;
  std::int32_t gather_tokens(StepBuilder& to, std::int32_t after) const;
  std::int32_t share_rows(StepBuilder& to, Collective collective, StepBuilder::Wire wire,
                          std::int32_t after) const;
  void add_weight_gradients(std::vector<Kernel>& kernels) const;
  void add_biases(std::vector<Kernel>& kernels) const;
  void add_bias_gradients(std::vector<Kernel>& kernels) const;
  void add_for_each_expert(Bytes bytes, std::vector<Kernel>& kernels) const;
  /// Experts with biases and gates are those of gpt-oss, which bound what goes into the activation; fused
  /// kernels do so on the way.
  [[nodiscard]] bool clamps() const {
    return model_.biases && model_.gated_mlp && software_.expert_bias_kernels && !fuses_mlp();
  }
  void add_clamps(std::vector<Kernel>& kernels) const;
  void add_clamp_gradients(std::vector<Kernel>& kernels) const;
  [[nodiscard]] std::int64_t activation_inputs() const {
    return mlp_inputs(model_) * experts_.rows * experts_.ffn;
  }
  /// Returns the number of values that the experts put out.
  [[nodiscard]] std::int64_t values() const { return experts_.rows * model_.hidden; }

  /// Returns the bytes that this rank sends between nodes; inside_node() returns those it sends within its
  /// node.
  [[nodiscard]] Bytes between_nodes() const;
  [[nodiscard]] Bytes inside_node() const;
  [[nodiscard]] Bytes copies(double per_token) const;
  [[nodiscard]] Kernel elementwise(Bytes bytes) const { return scaled(bytes, software_.elementwise_traffic); }
  [[nodiscard]] Kernel activation(const MlpProducts& mlp) const {
    return as(KernelClass::activation, elementwise(mlp.activation * shape_.element));
  }
  [[nodiscard]] std::vector<Kernel> routing(std::int64_t small) const;
  /// Returns the products of the rank's experts.
  [[nodiscard]] MlpProducts products() const;
  /// A fused kernel learns from the GPU how many rows each expert has, as graphs of whole steps do.
  [[nodiscard]] bool fuses_mlp() const {
    return software_.fuses_expert_mlp && plan_.cuda_graphs == CudaGraphs::step;
  }
  void add_mlp(std::vector<Kernel>& kernels) const;
  void add_mlp_gradient(std::vector<Kernel>& kernels) const;
  [[nodiscard]] Bytes both_layouts(std::int64_t values) const;
  [[nodiscard]] bool sorts_rows() const { return plan_.expert_parallel > 1 && experts_.experts > 1; }
  [[nodiscard]] std::vector<Kernel> sort_rows() const;
  [[nodiscard]] Picoseconds slicing_time() const;

  const Model& model_;
  const Plan& plan_;
  const Software& software_;
  const TransformerShape& shape_;
  ExpertShape experts_;
  SharedExperts shared_;
  std::int64_t ranks_in_node_;  ///< of the ranks that share the experts
  bool cast_once_;              ///< weights are, in a step
};

}  // namespace orrery
