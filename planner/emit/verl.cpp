#include "planner/emit/verl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace orrery {
namespace {

class VerlScript {
 public:
  explicit VerlScript(const PostTrainingExperiment& experiment)
      : experiment_(experiment), section_(experiment.section()) {}

  std::string write() {
    data();
    algorithm();
    actor();
    rollout();
    forward_passes();
    critic();
    resources();
    schedule();
    lacks();
    return script();
  }

 private:
  template <class Value>
  void set(const std::string& key, const Value& value, std::string_view from) {
    settings_.push_back({fmt::format("{}={}", key, value), std::string(from)});
  }
  void set_flag(const std::string& key, bool value, std::string_view from) {
    set(key, value ? "True" : "False", from);
  }
  void cannot_say(std::string_view key, std::string_view why) {
    lacking_.push_back(fmt::format("#   post_training.{}: {}", key, why));
  }

  [[nodiscard]] static std::int64_t longest(const TokenLengths& lengths) {
    return lengths.kind == LengthKind::fixed ? lengths.mean : lengths.most;
  }
  /// The longest prompt of a trace, or of its distribution; and the longest output.
  [[nodiscard]] std::int64_t longest_of(std::int64_t RequestSpec::*part, const TokenLengths& lengths) const {
    if (!section_.trace.has_value()) return longest(lengths);
    std::int64_t most = 0;
    for (const RequestSpec& request : *section_.trace) most = std::max(most, request.*part);
    return most;
  }

  void data() {
    set("data.train_batch_size", section_.prompts_per_step, "prompts_per_step");
    set("data.max_prompt_length", longest_of(&RequestSpec::prompt_tokens, section_.prompt), "prompt_tokens");
    set("data.max_response_length", longest_of(&RequestSpec::output_tokens, section_.response),
        "response_tokens");
    set("actor_rollout_ref.rollout.n", section_.samples_per_prompt, "samples_per_prompt");
  }

  void algorithm() {
    const bool critic = section_.algorithm == PostTrainingAlgorithm::ppo;
    set("algorithm.adv_estimator", critic ? "gae" : "grpo", "algorithm");
    if (section_.algorithm == PostTrainingAlgorithm::dapo)
      set("algorithm.filter_groups.enable", "True", "algorithm");
    set_flag("actor_rollout_ref.actor.use_kl_loss", experiment_.has(PostTrainingRole::reference),
             "roles.reference");
  }

  void layout(const std::string& owner, const Plan& plan, const std::string& from) {
    const std::string at = owner + ".megatron.";
    set(at + "tensor_model_parallel_size", plan.tensor_parallel, from + ".plan.tensor_parallel");
    set(at + "pipeline_model_parallel_size", plan.pipeline_parallel, from + ".plan.pipeline_parallel");
    set(at + "context_parallel_size", plan.context_parallel, from + ".plan.context_parallel");
    if (plan.expert_parallel > 1) {
      set(at + "expert_model_parallel_size", plan.expert_parallel, from + ".plan.expert_parallel");
      set(at + "expert_tensor_parallel_size", plan.expert_tensor_parallel,
          from + ".plan.expert_tensor_parallel");
    }
    if (plan.virtual_stages > 1)
      set(at + "virtual_pipeline_model_parallel_size", plan.virtual_stages, from + ".plan.virtual_stages");
  }

  void actor() {
    const std::string at = "actor_rollout_ref.actor.";
    set(at + "strategy", "megatron", "roles.actor.plan");
    layout("actor_rollout_ref.actor", experiment_.role(PostTrainingRole::actor).plan, "roles.actor");
    // verl counts mini-batches in prompts.
    set(at + "ppo_mini_batch_size",
        std::max<std::int64_t>(1, section_.prompts_per_step / section_.updates_per_step), "updates_per_step");
    set(at + "ppo_epochs", section_.epochs, "epochs");
    set(at + "use_dynamic_bsz", "True", "micro_batch_tokens");
    set(at + "ppo_max_token_len_per_gpu", tokens_per_gpu(false), "micro_batch_tokens");
    if (!section_.packing) set("actor_rollout_ref.model.use_remove_padding", "False", "packing");
    if (section_.placement == RolePlacement::disaggregated) return;
    const bool leaves = section_.offload != StateOffload::none;
    set_flag(at + "megatron.optimizer_offload", leaves, "offload");
    set_flag(at + "megatron.param_offload", leaves && section_.offload != StateOffload::optimizer, "offload");
  }

  /// Ranks that share a sequence have a part of its tokens each.
  [[nodiscard]] std::int64_t tokens_per_gpu(bool forward_alone) const {
    const std::int64_t ranks = experiment_.role(PostTrainingRole::actor).plan.context_parallel;
    return (experiment_.micro_batch_tokens(forward_alone) + ranks - 1) / ranks;
  }

  void rollout() {
    const Experiment& rollout = experiment_.rollout();
    const std::string at = "actor_rollout_ref.rollout.";
    const std::string from = "roles.rollout.";
    const bool sglang = rollout.stack.starts_with("sglang");
    set(at + "name", sglang ? "sglang" : "vllm", from + "stack");
    set(at + "tensor_model_parallel_size", rollout.plan.tensor_parallel, from + "plan.tensor_parallel");
    if (rollout.plan.pipeline_parallel > 1)
      set(at + "pipeline_model_parallel_size", rollout.plan.pipeline_parallel,
          from + "plan.pipeline_parallel");
    if (rollout.plan.expert_parallel > 1)
      set(at + "expert_parallel_size", rollout.plan.expert_parallel, from + "plan.expert_parallel");
    const Inference& engine = *rollout.inference;
    set(at + "gpu_memory_utilization", engine.cache_share, from + "inference.gpu_memory_utilization");
    set(at + "max_model_len", engine.context_tokens, from + "inference.max_model_len");
    if (engine.batch_size > 0) set(at + "max_num_seqs", engine.batch_size, from + "inference.batch_size");
    if (engine.max_batched_tokens > 0)
      set(at + "max_num_batched_tokens", engine.max_batched_tokens,
          from + "inference.max_num_batched_tokens");
    set_flag(at + "enforce_eager", rollout.plan.cuda_graphs == CudaGraphs::none, from + "plan.cuda_graphs");
  }

  void forward_passes() {
    set("actor_rollout_ref.rollout.log_prob_use_dynamic_bsz", "True", "forward_micro_batch_tokens");
    set("actor_rollout_ref.rollout.log_prob_max_token_len_per_gpu", tokens_per_gpu(true),
        "forward_micro_batch_tokens");
    if (!experiment_.has(PostTrainingRole::reference)) return;
    if (section_.swap_reference)
      set("actor_rollout_ref.ref.megatron.param_offload", "True", "swap_reference");
    layout("actor_rollout_ref.ref", experiment_.role(PostTrainingRole::reference).plan, "roles.reference");
    set("actor_rollout_ref.ref.log_prob_max_token_len_per_gpu", tokens_per_gpu(true),
        "forward_micro_batch_tokens");
  }

  void critic() {
    if (!experiment_.has(PostTrainingRole::critic)) return;
    set("critic.strategy", "megatron", "roles.critic.plan");
    layout("critic", experiment_.role(PostTrainingRole::critic).plan, "roles.critic");
    set("critic.ppo_max_token_len_per_gpu", tokens_per_gpu(false), "micro_batch_tokens");
  }

  void nodes(const std::string& owner, PostTrainingRole role, std::string_view from) {
    const Cluster& cluster = experiment_.role(role).cluster;
    set(owner + ".nnodes", cluster.nodes, from);
    set(owner + ".n_gpus_per_node", cluster.gpus_per_node, from);
  }

  void resources() {
    nodes("trainer", PostTrainingRole::actor, "roles.actor.gpus");
    if (section_.placement != RolePlacement::disaggregated) return;
    nodes("rollout", PostTrainingRole::rollout, "roles.rollout.gpus");
    set("actor_rollout_ref.hybrid_engine", "False", "placement");
  }

  void schedule() {
    if (section_.schedule != RolloutSchedule::asynchronous) return;
    set("async_training.staleness_threshold", section_.max_staleness, "max_staleness");
    set("async_training.trigger_parameter_sync_step", 1, "schedule");
    set_flag("async_training.partial_rollout", section_.partial_rollouts, "partial_rollouts");
  }

  void lacks() {
    if (section_.placement == RolePlacement::hybrid)
      cannot_say("placement",
                 "roles with GPUs of their own are resource pools in code (ResourcePoolManager)");
    if (section_.placement == RolePlacement::disaggregated &&
        section_.schedule == RolloutSchedule::synchronous)
      cannot_say("schedule", "apart, rollouts run one step ahead or asynchronously");
    if (section_.oversampling > 1) cannot_say("oversampling", "batches are waited for to their end");
    if (section_.reward == RewardKind::verifier)
      cannot_say("roles.reward", "verifiers are functions of yours (custom_reward_function.path)");
    if (section_.whole_batches) cannot_say("whole_batches", "a step takes the samples that end first");
    if (section_.host_copies == HostCopies::pageable)
      cannot_say("host_copies", "states go to memory that is kept for them");
    if (section_.kept_groups < 1) cannot_say("kept_groups", "it follows from the rewards");
    if (experiment_.role(PostTrainingRole::actor).plan.recompute != Recompute::none)
      cannot_say("roles.actor.plan.recompute",
                 "override_transformer_config.recompute_granularity and its kin, by hand");
    cannot_say("response_tokens", "a distribution is what comes out, and only the longest is set");
  }

  [[nodiscard]] std::string module() const {
    if (section_.schedule == RolloutSchedule::asynchronous)
      return "recipe.fully_async_policy.fully_async_main";
    const bool apart = section_.placement == RolePlacement::disaggregated;
    return apart ? "recipe.one_step_off_policy.main_ppo" : "verl.trainer.main_ppo";
  }

  [[nodiscard]] std::string script() const {
    std::size_t widest = 0;
    for (const auto& [setting, from] : settings_) widest = std::max(widest, setting.size());
    std::string text =
        "#!/bin/bash\n# Launches verl as simulated. Data, model and reward are yours: add them as "
        "arguments.\nset -e\nsettings=(\n";
    for (const auto& [setting, from] : settings_)
      text += fmt::format("  {:<{}}  # post_training.{}\n", setting, widest, from);
    text += fmt::format(")\npython3 -m {} \"${{settings[@]}}\" \"$@\"\n", module());
    text += "# Without a setting:\n";
    for (const std::string& line : lacking_) text += line + "\n";
    return text;
  }

  const PostTrainingExperiment& experiment_;
  const PostTraining& section_;
  std::vector<std::pair<std::string, std::string>> settings_;
  std::vector<std::string> lacking_;
};

}  // namespace

std::string write_verl(const PostTrainingExperiment& experiment) { return VerlScript(experiment).write(); }

}  // namespace orrery
