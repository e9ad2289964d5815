#include "planner/emit/verl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/emit/verl_layout.hpp"

namespace orrery {
namespace {

constexpr double kMebibyte = 1.048576;  ///< in units of 1e6 bytes

class VerlScript {
 public:
  explicit VerlScript(const PostTrainingExperiment& experiment)
      : experiment_(experiment),
        section_(experiment.section()),
        fsdp_(is_verl_fsdp(experiment.role(PostTrainingRole::actor).plan)) {}

  std::string write() {
    data();
    algorithm();
    actor();
    rollout();
    forward_passes();
    critic();
    reward();
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
  void cannot_say(const std::string& key, std::string_view why) {
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
    // The asynchronous recipe counts a step in mini-batches.
    const bool streams = section_.schedule == RolloutSchedule::asynchronous;
    set("data.train_batch_size", streams ? 0 : section_.prompts_per_step, "prompts_per_step");
    if (streams) set("data.gen_batch_size", 1, "prompts_per_step");
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
    if (section_.algorithm == PostTrainingAlgorithm::rejection)
      cannot_say("algorithm", "samples are compared with each other, and none is rejected");
    set_flag("actor_rollout_ref.actor.use_kl_loss", experiment_.has(PostTrainingRole::reference),
             "roles.reference");
  }

  void layout(const std::string& owner, PostTrainingRole role, bool fsdp, bool trained) {
    const std::string from = fmt::format("roles.{}.", kPostTrainingRoleNames[static_cast<std::size_t>(role)]);
    for (const VerlSetting& setting : verl_layout(owner, experiment_.role(role), fsdp, trained))
      if (setting.setting.empty())
        cannot_say(from + setting.key, setting.reason);
      else
        settings_.emplace_back(setting.setting, from + setting.key);
  }

  void actor() {
    const std::string at = "actor_rollout_ref.actor.";
    layout("actor_rollout_ref.actor", PostTrainingRole::actor, fsdp_, true);
    // verl counts mini-batches in prompts.
    set(at + "ppo_mini_batch_size",
        std::max<std::int64_t>(1, section_.prompts_per_step / section_.updates_per_step), "updates_per_step");
    set(at + "ppo_epochs", section_.epochs, "epochs");
    micro_batches(at, "use_dynamic_bsz", "ppo_max_token_len_per_gpu", "ppo_micro_batch_size_per_gpu", false);
    set_flag("actor_rollout_ref.model.use_remove_padding", section_.packing, "packing");
    if (section_.placement == RolePlacement::disaggregated) return;
    const bool leaves = section_.offload != StateOffload::none;
    const std::string engine = at + (fsdp_ ? "fsdp_config." : "megatron.");
    set_flag(engine + "optimizer_offload", leaves, "offload");
    set_flag(engine + "param_offload", leaves && section_.offload != StateOffload::optimizer, "offload");
  }

  /// Micro-batches are filled up to a number of tokens, or have a number of samples.
  void micro_batches(const std::string& at, const std::string& dynamic, const std::string& tokens,
                     const std::string& samples, bool forward_alone) {
    const std::string from = forward_alone ? "forward_micro_batch_tokens" : "micro_batch_tokens";
    const bool packed =
        section_.micro_batch_tokens > 0 || (forward_alone && section_.forward_micro_batch_tokens > 0);
    set_flag(at + dynamic, packed, from);
    if (packed)
      set(at + tokens, tokens_per_gpu(forward_alone), from);
    else
      set(at + samples,
          std::max<std::int64_t>(
              1, experiment_.micro_batch_tokens(forward_alone) / experiment_.longest_sample()),
          from);
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
    if (section_.samples_per_prompt > 1)
      set_flag(at + "enable_prefix_caching", section_.prefix_sharing, "prefix_sharing");
    set_flag(at + "enforce_eager", rollout.plan.cuda_graphs == CudaGraphs::none, from + "plan.cuda_graphs");
  }

  void forward_passes() {
    const auto alone = [this](const std::string& at) {
      micro_batches(at, "log_prob_use_dynamic_bsz", "log_prob_max_token_len_per_gpu",
                    "log_prob_micro_batch_size_per_gpu", true);
    };
    alone("actor_rollout_ref.rollout.");
    if (!section_.old_log_probabilities && section_.schedule != RolloutSchedule::asynchronous)
      set("++algorithm.rollout_correction.bypass_mode", "True", "old_log_probabilities");
    if (!experiment_.has(PostTrainingRole::reference)) return;
    if (section_.swap_reference)
      set(fmt::format("actor_rollout_ref.ref.{}.param_offload", fsdp_ ? "fsdp_config" : "megatron"), "True",
          "swap_reference");
    layout("actor_rollout_ref.ref", PostTrainingRole::reference, fsdp_, false);
    alone("actor_rollout_ref.ref.");
  }

  void critic() {
    if (!experiment_.has(PostTrainingRole::critic)) return;
    layout("critic", PostTrainingRole::critic, is_verl_fsdp(experiment_.role(PostTrainingRole::critic).plan),
           true);
    set("critic.ppo_max_token_len_per_gpu", tokens_per_gpu(false), "micro_batch_tokens");
  }

  void reward() {
    if (!experiment_.has(PostTrainingRole::reward)) return;
    set("reward_model.enable", "True", "roles.reward.kind");
    layout("reward_model", PostTrainingRole::reward,
           is_verl_fsdp(experiment_.role(PostTrainingRole::reward).plan), false);
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
    set("async_training.trigger_parameter_sync_step", section_.updates_per_step, "updates_per_step");
    set("async_training.require_batches", 1, "updates_per_step");
    set_flag("async_training.partial_rollout", section_.partial_rollouts, "partial_rollouts");
    set_flag("async_training.use_rollout_log_probs", !section_.old_log_probabilities,
             "old_log_probabilities");
    const bool buckets = section_.weight_sync == WeightSyncMethod::checkpoint_engine;
    set_flag("++async_training.checkpoint_engine.enable", buckets, "weight_sync");
    if (buckets)
      set("++async_training.checkpoint_engine.device_buffer_size_M",
          std::llround(section_.sync_bucket_mb / kMebibyte), "sync_bucket_mb");
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
    const bool broadcasts = section_.weight_sync == WeightSyncMethod::broadcast;
    const bool buckets = section_.weight_sync == WeightSyncMethod::checkpoint_engine &&
                         section_.schedule == RolloutSchedule::asynchronous;
    if (section_.placement == RolePlacement::disaggregated && !broadcasts && !buckets)
      cannot_say("weight_sync", "weights are broadcast tensor by tensor, or go to a checkpoint engine");
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
  const bool fsdp_;  ///< actor and reference run on FSDP
  std::vector<std::pair<std::string, std::string>> settings_;
  std::vector<std::string> lacking_;
};

}  // namespace

std::string write_verl(const PostTrainingExperiment& experiment) { return VerlScript(experiment).write(); }

}  // namespace orrery
