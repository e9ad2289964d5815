// Checks that an experiment that serves requests does not contradict itself or use keys of training.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "config/experiment/read_parts.hpp"
#include "config/schema/fields.hpp"
#include "orrery/serving_reach.hpp"

namespace orrery {
namespace {

class InferenceCheck {
 public:
  InferenceCheck(const Experiment& experiment, const Json& root, Findings& findings)
      : experiment_(experiment), inference_(*experiment.inference), root_(root), findings_(findings) {}

  void run() {
    refuse_training();
    if (!experiment_.model.attends())
      return add("", fmt::format("found a model of kind {}, allowed a transformer",
                                 kModelKindNames[static_cast<std::size_t>(experiment_.model.kind)]));
    if (!experiment_.model.causal)
      return add("", "found a model with causal false, allowed true: tokens are made one after the other");
    check_lengths();
    check_positions();
    check_batching();
    check_replicas();
    check_reach();
  }

 private:
  void add(std::string_view key, std::string message) {
    findings_.add(fmt::format("/inference{}{}", key.empty() ? "" : "/", key), std::move(message));
  }

  [[nodiscard]] std::int64_t context() const {
    return inference_.context_tokens > 0 ? inference_.context_tokens : experiment_.model.seq_length;
  }

  void refuse_training() {
    for (const std::string_view part : {"training", "data_parallel_sync", "accuracy", "problem"}) {
      if (root_.contains(part))
        findings_.add(fmt::format("/{}", part), "found beside inference, allowed one of them", Anchor::key);
    }
    constexpr std::string_view kTraining = "found beside inference, allowed in training only";
    refuse_keys(root_, "simulation", training_simulation_keys(), "/simulation", kTraining);
    const auto plan = root_.find("plan");
    if (plan == root_.end()) return;
    refuse_keys(root_, "plan", training_plan_keys(), "/plan", kTraining);
    refuse_keys(*plan, "wire_precision", training_wire_keys(), "/plan/wire_precision",
                "found beside inference, allowed there are dispatch and combine");
    if (experiment_.plan.cuda_graphs == CudaGraphs::layers)
      findings_.add_idle("/plan/cuda_graphs", "found \"layers\", allowed with inference are none and step");
  }

  /// Refuses those keys of an object in `owner` that are given.
  void refuse_keys(const Json& owner, std::string_view part, std::span<const std::string_view> keys,
                   std::string_view pointer, std::string_view message) {
    const auto object = owner.find(part);
    if (object == owner.end() || !object->is_object()) return;
    for (const std::string_view key : keys) {
      if (object->contains(key)) findings_.add_idle(fmt::format("{}/{}", pointer, key), std::string(message));
    }
  }

  /// Lengths that are given may not leave the context; lengths without a limit are cut to it.
  void check_lengths() {
    if (inference_.trace.has_value()) return;
    const std::int64_t prompt = needed(inference_.prompt);
    const std::int64_t output = needed(inference_.output);
    if (prompt + output <= context()) return;
    add("prompt_tokens", fmt::format("found requests of {} + {} tokens, allowed {} (max_model_len, or "
                                     "model.seq_length without one)",
                                     prompt, output, context()));
  }

  /// The greatest, or where there is no limit the mean.
  static std::int64_t needed(const TokenLengths& lengths) {
    return lengths.kind != LengthKind::fixed && lengths.most > 0 ? lengths.most
                                                                 : std::max(lengths.mean, lengths.least);
  }

  void check_batching() {
    const std::int64_t per_request = 1 + inference_.speculation.tokens;
    if (inference_.chunked_prefill && inference_.iteration_tokens(context()) < per_request)
      add("max_num_batched_tokens",
          fmt::format("found {}, allowed from {} on: one and those proposed of a request",
                      inference_.max_batched_tokens, per_request));
    if (static_cast<double>(inference_.iteration_tokens(context())) > kMaxTokens)
      add("batch_size", fmt::format("found {} tokens of prompts in an iteration, allowed {:.0e}",
                                    inference_.iteration_tokens(context()), kMaxTokens));
    if (inference_.batching == Batching::continuous) return;
    if (inference_.chunked_prefill)
      add("chunked_prefill", "found true, allowed with continuous batching only");
    if (inference_.guaranteed_no_evict)
      add("guaranteed_no_evict",
          "found true, allowed with continuous batching, as static batches always do it");
    if (inference_.is_disaggregated()) add("disaggregated", "found, allowed with continuous batching only");
  }

  void check_replicas() {
    if (!inference_.is_disaggregated()) return;
    const Disaggregation& split = inference_.disaggregated;
    const std::int64_t replicas = experiment_.plan.data_parallel;
    if (split.prefill + split.decode != replicas)
      add("disaggregated", fmt::format("found {} + {} replicas, allowed data_parallel {}", split.prefill,
                                       split.decode, replicas));
    const std::int64_t shared = replicas_that_share_experts();
    if (split.prefill % shared != 0 || split.decode % shared != 0)
      add("disaggregated",
          fmt::format(
              "found {} + {} replicas, allowed multiples of {}, as so many share the experts of a layer "
              "(expert_parallel {})",
              split.prefill, split.decode, shared, experiment_.plan.expert_parallel));
  }

  [[nodiscard]] std::int64_t replicas_that_share_experts() const {
    const Plan& plan = experiment_.plan;
    if (experiment_.model.experts == 0) return 1;
    const std::int64_t ranks = plan.tensor_parallel * plan.context_parallel;
    return std::max<std::int64_t>(1, plan.expert_parallel * plan.expert_tensor_parallel / ranks);
  }

  /// A table of positions has an end.
  void check_positions() {
    const Model& model = experiment_.model;
    if (model.positions == Positions::learned && context() > model.seq_length)
      add("max_model_len", fmt::format("found {}, allowed up to the {} positions that the model learned "
                                       "(model.seq_length)",
                                       context(), model.seq_length));
  }

  /// Checks that times and numbers of iterations stay countable and can be simulated in reasonable time.
  void check_reach() {
    const auto requests = static_cast<double>(inference_.requests);
    if (inference_.requests_per_s > 0 && requests / inference_.requests_per_s > kMostServedArrivalSeconds)
      add("requests_per_s", fmt::format("found arrivals over {:.3g} s, allowed {:.0e}",
                                        requests / inference_.requests_per_s, kMostServedArrivalSeconds));
    double tokens = requests * static_cast<double>(inference_.output.mean);
    if (inference_.trace.has_value()) {
      for (const RequestSpec& request : *inference_.trace)
        tokens += static_cast<double>(request.output_tokens);
    }
    if (tokens > kMostServedTokens)
      add("requests", fmt::format("found {:.3g} tokens to make, allowed {:.0e}", tokens, kMostServedTokens));
  }

  const Experiment& experiment_;
  const Inference& inference_;
  const Json& root_;
  Findings& findings_;
};

}  // namespace

void check_inference(const Experiment& experiment, const Json& root, Findings& findings) {
  InferenceCheck(experiment, root, findings).run();
}

}  // namespace orrery
