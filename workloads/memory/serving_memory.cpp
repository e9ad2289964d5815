#include "workloads/memory/serving_memory.hpp"

#include <algorithm>

#include "workloads/inference/served_layer.hpp"
#include "workloads/models/layer_products.hpp"
#include "workloads/models/sparse_attention.hpp"

namespace orrery {
namespace {

constexpr std::int64_t kUsualRequests = 256;  ///< of an iteration, where nothing bounds the batch

class StageAccount {
 public:
  StageAccount(const Experiment& experiment, const Inference& inference, const ServedModel& model,
               std::int64_t tokens)
      : experiment_(experiment),
        inference_(inference),
        model_(model),
        results_((inference.batch_size > 0 ? inference.batch_size : std::min(tokens, kUsualRequests)) *
                 (1 + inference.speculation.tokens)),
        tokens_(divide_up(std::max(tokens, results_), experiment.plan.context_parallel)),
        element_(element_bytes(experiment.plan.precision)) {}

  [[nodiscard]] StageServingMemory of(const ServedStage& stage) const {
    return {weights(stage), workspace(stage), cache(stage), state(stage)};
  }

 private:
  /// A head that shares the embedding holds a copy of it on another stage.
  [[nodiscard]] Bytes weights(const ServedStage& stage) const {
    std::int64_t matrices = 0, others = 0;
    for (std::size_t kind = 0; kind < stage.layers.size(); ++kind) {
      matrices += stage.layers[kind] * model_.kinds()[kind].matrix_parameters();
      others += stage.layers[kind] * model_.kinds()[kind].other_parameters();
    }
    const TransformerShape shape(experiment_.model, experiment_.plan);
    const bool copies = experiment_.model.tied_embeddings && !stage.embeds;
    if (stage.embeds) others += shape.embedding_parameters();
    if (stage.has_head)
      others += shape.head_parameters() + (copies ? shape.vocab * experiment_.model.hidden : 0);
    return stored_bytes(matrices, inference_, experiment_.plan.precision) + others * element_;
  }

  /// Each rank that shares sequences keeps its part of them.
  [[nodiscard]] Bytes cache(const ServedStage& stage) const {
    std::int64_t values = 0;
    Bytes indexed = 0;
    for (std::size_t kind = 0; kind < stage.layers.size(); ++kind) {
      const ServedLayer& layer = model_.kinds()[kind];
      values += stage.layers[kind] * layer.cached_values();
      if (layer.content().attends()) indexed += stage.layers[kind] * indexer_cache_bytes(layer.model());
    }
    return divide_up(values * bytes_of_32(inference_.kv_precision) + 32 * indexed,
                     32 * experiment_.plan.context_parallel);
  }

  [[nodiscard]] Bytes state(const ServedStage& stage) const {
    Bytes sum = 0;
    for (std::size_t kind = 0; kind < stage.layers.size(); ++kind)
      sum += stage.layers[kind] * model_.kinds()[kind].state_bytes();
    return sum;
  }

  /// Residual stream, its normalised form and the output of a half, and the widest tensors between two
  /// products; logits in 16 and 32 bits.
  [[nodiscard]] Bytes workspace(const ServedStage& stage) const {
    std::int64_t widest = 0;
    for (std::size_t kind = 0; kind < stage.layers.size(); ++kind) {
      if (stage.layers[kind] > 0) widest = std::max(widest, between_products(model_.kinds()[kind]));
    }
    const Bytes logits = stage.has_head ? results_ * experiment_.model.vocab * (element_ + 4) : 0;
    const Bytes framework = static_cast<Bytes>(experiment_.software.framework_gb * 1e9 + 0.5);
    return (3 * tokens_ * experiment_.model.hidden + widest) * element_ + logits + framework;
  }

  [[nodiscard]] std::int64_t between_products(const ServedLayer& layer) const {
    const Model& model = layer.model();
    const TransformerShape shape = layer.shape(tokens_);
    const std::int64_t inputs = mlp_inputs(model) + 1;
    const Heads heads = layer.heads();
    std::int64_t values =
        tokens_ * (query_width(model, heads) + key_value_width(model, heads) + output_width(model, heads));
    if (!layer.content().attends()) values = 0;
    if (layer.content().recurs()) {
      const Recurrence r = layer.recurrence();
      values = tokens_ * (r.input_width + r.convolved + r.output_width);
    }
    if (layer.content().mlp == LayerMlp::dense) values = std::max(values, tokens_ * inputs * shape.ffn);
    if (!layer.content().has_experts()) return values;
    const ExpertShape experts = layer.experts(shape);
    return std::max(values, experts.rows * (2 * model.hidden + inputs * experts.ffn));
  }

  const Experiment& experiment_;
  const Inference& inference_;
  const ServedModel& model_;
  std::int64_t
      results_;  ///< tokens of the largest iteration that leave logits: of each request and its proposals
  std::int64_t tokens_;  ///< of the largest iteration, of prompts or of outputs, on a rank
  Bytes element_;
};

}  // namespace

std::vector<StageServingMemory> stage_serving_memory(const Experiment& experiment, const Inference& inference,
                                                     std::int64_t tokens) {
  const ServedModel model(experiment);
  const StageAccount account(experiment, inference, model, tokens);
  std::vector<StageServingMemory> stages;
  for (const ServedStage& stage : model.stages()) stages.push_back(account.of(stage));
  return stages;
}

}  // namespace orrery
