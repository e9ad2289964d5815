// Writes one iteration of a serving replica on one rank, as kernels and messages that follow each other: a
// pass over all layers with the next tokens of some requests. Cut where the sums over requests come in:
// products and messages depend on the number of tokens alone, attention on how many others these attend to,
// the head on how many of them get a next token.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "orrery/iteration_batch.hpp"
#include "workloads/inference/served_layer.hpp"
#include "workloads/models/layer_products.hpp"
#include "workloads/models/step_builder.hpp"

namespace orrery {

/// Appends steps that follow each other, and their work to the workload. A step with the same `after` as the
/// previous one begins with it, on a stream of its own.
class IterationWriter {
 public:
  /// @param graphs  the host launches a CUDA graph of all of it
  IterationWriter(const Experiment& experiment, bool graphs, Workload& workload)
      : software_(experiment.software), plan_(experiment.plan), graphs_(graphs), workload_(workload) {}

  void compute(Part part, std::vector<Kernel> kernels);
  void collective(Part part, Collective collective, Bytes bytes, Slot communicator, bool beside = false);
  [[nodiscard]] Steps finish() && { return {std::move(list_), static_cast<std::int32_t>(list_.size()) - 1}; }

 private:
  void add(Step step, bool beside = false);

  const Software& software_;
  const Plan& plan_;
  bool graphs_;
  Workload& workload_;
  std::vector<Step> list_;
};

class IterationSteps {
 public:
  /// Keeps references.
  IterationSteps(const Experiment& experiment, const Inference& inference);

  [[nodiscard]] const ServedModel& model() const { return model_; }

  void write_embedding(std::int64_t tokens, IterationWriter& to) const;
  /// Writes the part of a layer up to queries, keys and values, and then the part after attention.
  void write_inputs(std::size_t kind, std::int64_t tokens, IterationWriter& to) const;
  void write_outputs(std::size_t kind, std::int64_t tokens, IterationWriter& to) const;
  /// Writes attention between those two parts. Prefill attends with a kernel of its own; decode reads the KV
  /// cache. With latent attention prefill makes keys and values of the latent vectors, decode attends to the
  /// latent vectors themselves, the projections absorbed into queries and outputs (DeepSeek-AI 2024,
  /// "DeepSeek-V2", section 2.1.2). If a window limits attention, all requests of a batch count as equally
  /// long.
  void write_attention(std::size_t kind, const IterationBatch& batch, IterationWriter& to) const;
  /// The final norm, logits and the choice of tokens.
  void write_head(std::int64_t results, IterationWriter& to) const;

  /// A whole stage, in order.
  [[nodiscard]] Steps write_stage(const ServedStage& stage, const IterationBatch& batch, bool graphs,
                                  Workload& workload) const;
  /// Returns the bytes that a tensor group sends to the next stage, and the share that each rank sends.
  [[nodiscard]] Bytes stage_output_bytes(std::int64_t tokens) const;
  [[nodiscard]] Bytes stage_message_bytes(std::int64_t tokens) const;

  /// Tokens of a rank, where ranks share sequences.
  [[nodiscard]] std::int64_t own_tokens(std::int64_t tokens) const {
    return divide_up(tokens, experiment_.plan.context_parallel);
  }

 private:
  /// Tokens that requests attend to, and pairs of them with their own: all, or those in a window.
  struct Attended {
    std::int64_t tokens = 0;
    std::int64_t pairs = 0;
  };
  [[nodiscard]] Attended of_prompts(const ServedLayer& layer, const IterationBatch& batch) const;
  [[nodiscard]] Attended of_decoding(const ServedLayer& layer, const IterationBatch& batch) const;
  void write_prompts(const ServedLayer& layer, const IterationBatch& batch, IterationWriter& to) const;
  void write_decoding(const ServedLayer& layer, const IterationBatch& batch, IterationWriter& to) const;
  void write_recurrence(const ServedLayer& layer, const IterationBatch& batch, IterationWriter& to) const;
  [[nodiscard]] std::vector<Kernel> prompt_kernels(const ServedLayer& layer, const IterationBatch& batch,
                                                   const Attended& attended) const;
  [[nodiscard]] std::vector<Kernel> decoding_kernels(const ServedLayer& layer, const IterationBatch& batch,
                                                     const Attended& attended) const;
  void add_mlp(const MlpProducts& mlp, std::vector<Kernel>& kernels) const;
  void write_mlp(const ServedLayer& layer, const TransformerShape& shape, IterationWriter& to,
                 std::vector<Kernel> kernels) const;
  void write_experts(const ServedLayer& layer, const TransformerShape& shape, IterationWriter& to) const;
  void write_travel(const ExpertShape& experts, bool back, IterationWriter& to) const;
  void write_hops(const ExpertShape& experts, bool back, IterationWriter& to) const;
  void reduce(Part part, Bytes bytes, IterationWriter& to) const;
  [[nodiscard]] Kernel weighted(Kernel product) const;
  [[nodiscard]] Kernel wide(Kernel product) const;
  [[nodiscard]] Kernel elementwise(Bytes bytes) const {
    return scaled(bytes, experiment_.software.elementwise_traffic);
  }
  [[nodiscard]] Bytes row() const { return experiment_.model.hidden * element_; }

  const Experiment& experiment_;
  const Inference& inference_;
  ServedModel model_;
  std::int64_t ranks_in_node_;  ///< that share experts, where a dispatcher goes by nodes; else 0
  Bytes element_;
  double stored_;  ///< bytes of a value of a matrix
  double cached_;  ///< bytes of a key or value
};

/// Names the key of a model or plan that keeps it from being served, and the reason; empty if it can be
/// served.
struct ServingObstacle {
  std::string pointer;
  std::string message;
};
[[nodiscard]] std::optional<ServingObstacle> serving_obstacle(const Experiment& experiment);

}  // namespace orrery
