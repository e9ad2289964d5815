// The explorer's equations (docs/theory/memory.md, "The explorer's accounting"), in its symbols and with its
// roundings: where it divides whole numbers with //, this divides whole numbers.
#include <cmath>
#include <string>

#include "orrery/error.hpp"
#include "orrery/explorer_memory.hpp"
#include "orrery/units.hpp"
#include "workloads/communicators/expert_load.hpp"

namespace orrery {
namespace {

/// The matrices of an MLP, each h x f.
std::int64_t matrices(const Model& m) { return m.gated_mlp ? 3 : 2; }

std::int64_t embedding_weights(const Model& m, const Plan& p) {
  const bool two_tables = p.pipeline_parallel == 1 && !m.tied_embeddings;
  return m.vocab * m.hidden / p.tensor_parallel * (two_tables ? 2 : 1);
}

/// Returns the attention weights of a layer. A head is h // a wide whatever the model says.
Int128 attention_weights(const Model& m, const Plan& p) {
  const std::int64_t head_dim = m.hidden / m.heads;
  return Int128{m.hidden / p.tensor_parallel} * (m.heads * head_dim + 2 * m.kv_heads * head_dim + m.hidden);
}

/// Returns the weights of a layer whose MLP, or whose expert, is `ffn` wide.
Int128 mlp_weights(const Model& m, const Plan& p, std::int64_t ffn) {
  return Int128{m.hidden} * ffn * matrices(m) / p.tensor_parallel;
}

std::int64_t dense_parameters(const Model& m, const Plan& p) {
  const Int128 layers =
      attention_weights(m, p) * m.layers + mlp_weights(m, p, m.ffn_hidden) * (m.layers - m.moe_layers());
  return embedding_weights(m, p) + static_cast<std::int64_t>(layers / p.pipeline_parallel);
}

std::int64_t expert_parameters(const Model& m, const Plan& p) {
  const Int128 all = mlp_weights(m, p, m.expert_ffn_hidden) * m.moe_layers() * m.experts;
  const Int128 per_layer = all / (Int128{m.layers} * p.expert_parallel);  // mlp fe E // EP
  return static_cast<std::int64_t>(per_layer * m.layers / p.pipeline_parallel);
}

/// Bytes a parameter that `copies` data-parallel ranks have: psi.
double bytes_per_parameter(int zero_stage, std::int64_t copies) {
  const auto n = static_cast<double>(copies);
  switch (zero_stage) {
    case 0:
      return 18;
    case 1:
      return 6 + 12 / n;
    case 2:
      return 2 + 16 / n;
    default:
      return 16 / n;
  }
}

double states_bytes(const ExplorerMemory& memory, const Plan& p) {
  const std::int64_t expert_copies = p.data_parallel / p.expert_parallel;
  const double experts = memory.expert_parameters == 0 ? 0
                                                       : static_cast<double>(memory.expert_parameters) *
                                                             bytes_per_parameter(p.zero_stage, expert_copies);
  return static_cast<double>(memory.dense_parameters) * bytes_per_parameter(p.zero_stage, p.data_parallel) +
         experts;
}

/// Activations of a micro-batch, in bytes.
class Activations {
 public:
  Activations(const Model& model, const Plan& plan, double imbalance)
      : m_(model),
        tensor_(static_cast<double>(plan.tensor_parallel)),
        tokens_(static_cast<double>(model.seq_length / plan.context_parallel * plan.micro_batch_size)),
        chosen_(imbalance * static_cast<double>(model.experts_per_token)),
        has_output_(plan.pipeline_parallel == 1) {}

  [[nodiscard]] double of_all_layers() const {
    const auto experts = static_cast<double>(m_.moe_layers());
    const double dense = static_cast<double>(m_.layers) - experts;
    const double attention = static_cast<double>(m_.layers) * (14 * residual() / tensor_);
    return (experts > 0 ? experts * mixture() : 0) + dense * mlp(m_.ffn_hidden) + attention + output();
  }

 private:
  /// Elements of the residual stream: sbh.
  [[nodiscard]] double residual() const { return tokens_ * static_cast<double>(m_.hidden); }
  [[nodiscard]] double mlp(std::int64_t ffn) const {
    return 2 * tokens_ * static_cast<double>(m_.hidden + matrices(m_) * ffn) / tensor_;
  }
  [[nodiscard]] double mixture() const {
    const double routed = std::floor(2 * (residual() + chosen_ * residual()) / tensor_);
    return routed + chosen_ * mlp(m_.expert_ffn_hidden);
  }
  /// Returns the logits and their inputs, if one stage has both ends of the model.
  [[nodiscard]] double output() const {
    return has_output_ ? std::floor(10 * tokens_ * static_cast<double>(m_.vocab) / tensor_) : 0;
  }

  const Model& m_;
  double tensor_;
  double tokens_;  ///< s b
  double chosen_;  ///< c K
  bool has_output_;
};

void check(const Model& model, const Plan& plan) {
  const std::string kind(kModelKindNames[static_cast<std::size_t>(model.kind)]);
  if (!model.attends())
    throw InputError(
        "/model/kind",
        "found \"" + kind + "\", allowed transformer, moe-transformer in the explorer's accounting");
  if (model.encoder_layers > 0)
    throw InputError("/model/encoder_layers", "found a value, allowed 0 in the explorer's accounting");
  if (!model.layer_pattern.empty())
    throw InputError("/model/layer_pattern",
                     "found a list, allowed none in the explorer's accounting, whose layers are alike");
  if (plan.zero_stage == 0 || plan.expert_parallel <= plan.data_parallel) return;
  throw InputError("/plan/expert_parallel",
                   "found " + std::to_string(plan.expert_parallel) + ", allowed at most data_parallel " +
                       std::to_string(plan.data_parallel) +
                       " in the explorer's accounting, which shards experts over data_parallel // "
                       "expert_parallel ranks");
}

}  // namespace

ExplorerMemory explorer_memory(const Model& model, const Plan& plan) {
  check(model, plan);
  ExplorerMemory memory;
  memory.dense_parameters = dense_parameters(model, plan);
  memory.expert_parameters = expert_parameters(model, plan);
  memory.states_bytes = states_bytes(memory, plan);
  if (plan.expert_parallel > 1) memory.token_imbalance = token_load(model, plan);
  memory.activations_bytes = Activations(model, plan, memory.token_imbalance).of_all_layers();
  memory.pipeline_bubble =
      static_cast<double>(plan.pipeline_parallel - 1) / static_cast<double>(plan.micro_batches());
  return memory;
}

}  // namespace orrery
