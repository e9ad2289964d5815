#include "importers/frameworks/verl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "importers/frameworks/arguments.hpp"
#include "importers/frameworks/verl_roles.hpp"
#include "importers/frameworks/verl_settings.hpp"

namespace orrery::importers::frameworks {
namespace {

constexpr const char* kVerlDefault = "verl's default";
constexpr VerlRole kActor{"actor_rollout_ref.actor.", "post_training.roles.actor", true};
constexpr VerlRole kReference{"actor_rollout_ref.ref.", "post_training.roles.reference"};
constexpr VerlRole kCritic{"critic.", "post_training.roles.critic", true};
constexpr VerlRole kReward{"reward_model.", "post_training.roles.reward"};
constexpr std::int64_t kMostCounted = 1'000'000'000;

std::string in_section(std::string_view key) { return fmt::format("post_training.{}", key); }

std::string_view reason_in_verl(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 20> kReasons{
      {{"data.", "data and tokenizer, which change no step here"},
       {"trainer.", "logging, checkpoints and length, which are no part of a step here"},
       {"algorithm.", "how samples are judged, which takes no time of its own"},
       {"actor_rollout_ref.rollout.val_kwargs", "evaluation, which is no part of a step here"},
       {"actor_rollout_ref.rollout.multi_turn", "tools and turns, which are not modelled"},
       {"actor_rollout_ref.rollout.agent", "tools and turns, which are not modelled"},
       {"actor_rollout_ref.rollout.", "detail of the engine or of sampling, which Orrery cannot say"},
       {"actor_rollout_ref.actor.optim", "learning, which takes no time of its own"},
       {"actor_rollout_ref.actor.checkpoint", "checkpoints, which are no part of a step here"},
       {"actor_rollout_ref.actor.fsdp_config", "detail of FSDP, which Orrery cannot say"},
       {"actor_rollout_ref.actor.", "the loss, which takes no time of its own, or a detail of the engine"},
       {"actor_rollout_ref.ref.", "no reference is asked, or a detail of its engine"},
       {"actor_rollout_ref.model.", "detail of the model, which stands in its own file"},
       {"critic.", "the algorithm has no critic, or a detail of its engine"},
       {"reward_model.", "rewards by rule, or a detail of the reward model's engine"},
       {"reward.", "rewards by rule, or a detail of the reward model's engine"},
       {"custom_reward_function", "a function of the user, whose time is not known"},
       {"async_training.", "detail of the recipe, which Orrery cannot say"},
       {"rollout.", "the length of the training changes no step"},
       {"ray", "how processes start, which changes no step"}}};
  for (const auto& [begins, why] : kReasons)
    if (name.starts_with(begins)) return why;
  return "how verl runs, which changes no step or which Orrery cannot say";
}

class VerlReader {
 public:
  VerlReader(const ImportContext& context, Draft& draft)
      : settings_(verl_settings(context, draft)), all_(context, draft), draft_(draft) {
    for (const SourceKey& key : settings_.keys.list()) all_.add({key.key, key.value, key});
  }

  void read() {
    if (settings_.keys.list().empty()) return;
    read_model();
    read_samples();
    read_algorithm();
    read_schedule();
    read_batch();
    read_updates();
    read_roles();
    read_micro_batches();
    read_copies();
    read_gpus();
    draft_.default_to("stack", is_megatron("actor_rollout_ref.actor.") ? "megatron-core-2025" : "fsdp-2023",
                      "the nearest calibrated version");
    all_.rest(reason_in_verl);
  }

 private:
  [[nodiscard]] bool is_on(const std::string& name, bool otherwise = false) {
    return all_.take_flag(name).value_or(otherwise);
  }
  std::int64_t count_or(const std::string& name, std::int64_t otherwise) {
    return std::min(all_.take_count(name).value_or(otherwise), kMostCounted);
  }

  /// A path on a disk says the name of the model at its end.
  void read_model() {
    constexpr const char* kPath = "actor_rollout_ref.model.path";
    const LaunchArgument* path = all_.find(kPath);
    if (path == nullptr || !path->value.is_string()) return;
    std::string name = text_of(path->value);
    while (name.ends_with('/')) name.pop_back();
    const bool on_disk = name.find_first_of("/~.$") == 0 || std::ranges::count(name, '/') > 1;
    if (on_disk) name = name.substr(name.rfind('/') + 1);
    if (!name.empty() && name.find('$') == std::string::npos) all_.became(kPath, launch::kModel, name);
  }

  /// verl is told the longest prompt and output, and not the usual ones.
  void read_samples() {
    longest_ = read_length("data.max_prompt_length", "prompt_tokens") +
               read_length("data.max_response_length", "response_tokens");
    draft_.default_to(launch::kSample, longest_, "longest prompt and output");
    all_.map_count("actor_rollout_ref.rollout.n", in_section("samples_per_prompt"));
    draft_.default_to(in_section("samples_per_prompt"), 1, kVerlDefault);
    const bool shared = is_on("actor_rollout_ref.rollout.enable_prefix_caching", true);
    if (!shared && count_or("actor_rollout_ref.rollout.n", 1) > 1)
      all_.became("actor_rollout_ref.rollout.enable_prefix_caching", in_section("prefix_sharing"), false);
    read_packing();
  }

  std::int64_t read_length(const std::string& name, std::string_view key) {
    constexpr std::int64_t kUsual = 512;
    const std::int64_t longest = count_or(name, kUsual);
    const std::string note =
        fmt::format("the longest, of all samples: verl is not told the others; --set {}=N, or a distribution",
                    in_section(key));
    if (all_.contains(name)) all_.became(name, in_section(key), longest, note);
    draft_.default_to(in_section(key), longest, fmt::format("{}; {}", kVerlDefault, note));
    return longest;
  }

  /// Samples of one length have nothing to pack.
  void read_packing() {
    constexpr const char* kPacking = "actor_rollout_ref.model.use_remove_padding";
    const bool alike = !draft_.value(in_section("prompt_tokens")).is_object() &&
                       !draft_.value(in_section("response_tokens")).is_object();
    if (!is_on(kPacking, true) && !alike) all_.became(kPacking, in_section("packing"), false);
    all_.ignore(kPacking, alike ? "all samples are taken to be equally long" : "samples share sequences");
  }

  void read_algorithm() {
    constexpr const char* kEstimator = "algorithm.adv_estimator";
    const std::string name = all_.take_text(kEstimator);
    const bool filters = is_on("algorithm.filter_groups.enable");
    const char* algorithm = name.empty() || name == "gae" ? "ppo" : filters ? "dapo" : "grpo";
    if (name == "remax")
      all_.refuse(kEstimator, "ReMax, which generates one more sample for each prompt, is not modelled",
                  "grpo");
    all_.became(kEstimator, in_section("algorithm"), algorithm,
                name == "gae" || name == "grpo" || name.empty() ? "" : "alike in time: no critic");
    draft_.default_to(in_section("algorithm"), algorithm, kVerlDefault);
    all_.ignore(
        "algorithm.filter_groups.enable",
        "stands with post_training.algorithm; --set post_training.kept_groups=N says how many are kept");
    for (const char* idle : {"data.gen_batch_size", "algorithm.filter_groups.max_num_gen_batches"})
      all_.ignore(idle, "groups are generated until enough of them are kept");
    for (const char* told :
         {"actor_rollout_ref.actor.use_rollout_log_probs", "algorithm.rollout_correction.bypass_mode"})
      if (is_on(told)) all_.became(told, in_section("old_log_probabilities"), false);
  }

  void read_schedule() {
    const auto runs = [this](std::string_view module) {
      return settings_.program.find(module) != std::string::npos;
    };
    const bool asynchronous = runs("fully_async") || all_.contains("async_training.staleness_threshold") ||
                              all_.contains("async_training.trigger_parameter_sync_step");
    const bool apart = asynchronous || runs("one_step_off") || all_.contains("rollout.nnodes") ||
                       all_.take_flag("actor_rollout_ref.hybrid_engine") == false;
    asynchronous_ = asynchronous;
    apart_ = apart;
    if (!apart) return all_.ignore("actor_rollout_ref.hybrid_engine", "rollouts and updates take turns");
    if (all_.contains("actor_rollout_ref.hybrid_engine"))
      all_.became("actor_rollout_ref.hybrid_engine", in_section("placement"), "disaggregated");
    draft_.default_to(in_section("placement"), "disaggregated", "rollouts have GPUs of their own");
    draft_.default_to(in_section("schedule"), asynchronous ? "asynchronous" : "one-step-off",
                      settings_.program);
    if (asynchronous) read_staleness();
  }

  void read_staleness() {
    constexpr const char* kThreshold = "async_training.staleness_threshold";
    constexpr double kMost = 64;
    const LaunchArgument* threshold = all_.take(kThreshold);
    const bool known = threshold != nullptr && threshold->value.is_number();
    const double share = known ? std::clamp(threshold->value.get<double>(), 0.0, kMost) : 0.1;
    const auto updates = static_cast<std::int64_t>(std::ceil(share));
    if (known)
      all_.became(kThreshold, in_section("max_staleness"), updates, "of the samples of a step, rounded up");
    draft_.default_to(in_section("max_staleness"), updates, kVerlDefault);
    constexpr const char* kPartial = "async_training.partial_rollout";
    const bool partial = is_on(kPartial, true) && updates > 0;
    if (all_.contains(kPartial)) all_.became(kPartial, in_section("partial_rollouts"), partial);
    draft_.default_to(in_section("partial_rollouts"), partial, kVerlDefault);
    constexpr const char* kEnginesOwn = "async_training.use_rollout_log_probs";
    if (const auto own = all_.take_flag(kEnginesOwn))
      all_.became(kEnginesOwn, in_section("old_log_probabilities"), !*own);
    draft_.default_to(in_section("old_log_probabilities"), false, kVerlDefault);
    constexpr const char* kEngine = "async_training.checkpoint_engine.enable";
    if (is_on(kEngine)) {
      all_.became(kEngine, in_section("weight_sync"), "checkpoint-engine");
      read_buckets();
    }
    all_.ignore(kEngine, "weights are broadcast");
  }

  void read_buckets() {
    constexpr const char* kBuffer = "async_training.checkpoint_engine.device_buffer_size_M";
    constexpr double kMebibyte = 1.048576;
    if (const auto size = all_.take_count(kBuffer))
      all_.became(kBuffer, in_section("sync_bucket_mb"), static_cast<double>(*size) * kMebibyte);
  }

  /// The asynchronous recipe counts a step in mini-batches.
  void read_batch() {
    constexpr const char* kMini = "actor_rollout_ref.actor.ppo_mini_batch_size";
    mini_batch_ = count_or(kMini, 256);
    if (asynchronous_) {
      const std::int64_t updates = count_or("async_training.trigger_parameter_sync_step", 4) *
                                   count_or("async_training.require_batches", 1);
      updates_ = std::min(updates, kMostCounted);
      all_.ignore("data.train_batch_size", "mini-batches make a step");
      all_.ignore("data.gen_batch_size", "prompts are generated one by one");
      if (all_.contains(kMini))
        all_.became(kMini, in_section("prompts_per_step"), mini_batch_ * updates_,
                    fmt::format("times {} mini-batches between hand-overs of weights", updates_));
    } else {
      const std::int64_t prompts = count_or("data.train_batch_size", 1024);
      updates_ = (prompts + mini_batch_ - 1) / mini_batch_;
      all_.became("data.train_batch_size", in_section("prompts_per_step"), prompts);
      draft_.default_to(in_section("prompts_per_step"), prompts, kVerlDefault);
    }
    draft_.default_to(in_section("prompts_per_step"), mini_batch_ * updates_, kVerlDefault);
  }

  void read_updates() {
    const std::string by = asynchronous_ ? "async_training.trigger_parameter_sync_step"
                                         : "actor_rollout_ref.actor.ppo_mini_batch_size";
    const std::string note =
        asynchronous_ ? "times async_training.require_batches" : "prompts / prompts of one";
    if (all_.contains(by)) all_.became(by, in_section("updates_per_step"), updates_, note);
    draft_.default_to(in_section("updates_per_step"), updates_, kVerlDefault);
    all_.ignore("async_training.require_batches", "stands with post_training.updates_per_step");
    all_.map_count("actor_rollout_ref.actor.ppo_epochs", in_section("epochs"));
  }

  /// Megatron or FSDP; a role that does not say it does as the actor.
  [[nodiscard]] bool is_megatron(const std::string& theirs) {
    for (const std::string& owner : {theirs, std::string(kActor.theirs)}) {
      const std::string strategy = all_.take_text(owner + "strategy");
      if (!strategy.empty()) return strategy == "megatron";
    }
    const auto below = [](const LaunchArgument& argument) {
      return argument.name.starts_with("actor_rollout_ref.actor.megatron.");
    };
    return std::ranges::any_of(all_.list(), below);
  }

  void read_roles() {
    sequence_ranks_ = read_role(kActor);
    read_verl_rollout(all_);
    reference_ = is_on("actor_rollout_ref.actor.use_kl_loss") || is_on("algorithm.use_kl_in_reward");
    for (const char* told : {"actor_rollout_ref.actor.use_kl_loss", "algorithm.use_kl_in_reward"})
      all_.ignore(told, reference_ ? "a reference is asked" : "no reference is asked");
    if (reference_) read_role(kReference);
    const bool critic = draft_.value(in_section("algorithm")) == "ppo";
    if (critic) read_role(kCritic);
    const bool reward = is_on("reward_model.enable");
    if (reward) {
      all_.became("reward_model.enable", in_section("roles.reward.kind"), "model");
      read_role(kReward);
    }
    all_.ignore("reward_model.enable", "rewards take no time: a rule gives them");
    runs_forward_alone_ =
        reference_ || critic || reward || draft_.value(in_section("old_log_probabilities")) != false;
  }

  std::int64_t read_role(const VerlRole& role) {
    const std::string theirs(role.theirs);
    const std::int64_t ranks = read_verl_role(role, is_megatron(theirs), all_);
    all_.ignore(theirs + "strategy", "Megatron or FSDP, as the plan of the role says");
    return ranks;
  }

  void read_micro_batches() {
    const std::string actor(kActor.theirs);
    const std::string flag = actor + "use_dynamic_bsz", tokens = actor + "ppo_max_token_len_per_gpu",
                      samples = actor + "ppo_micro_batch_size_per_gpu";
    const bool dynamic = is_on(flag);
    if (dynamic) {
      const std::int64_t packed = count_or(tokens, 16384) * sequence_ranks_;
      if (all_.contains(tokens))
        all_.became(tokens, in_section("micro_batch_tokens"), packed, "of all ranks that share sequences");
      draft_.default_to(in_section("micro_batch_tokens"), packed, kVerlDefault);
    } else {
      all_.map_count(samples, "post_training.roles.actor.plan.micro_batch_size");
    }
    all_.ignore(flag, "micro-batches are filled up to a number of tokens, or of samples");
    for (const std::string& other : {tokens, samples}) all_.ignore(other, "the other way of filling them");
    if (runs_forward_alone_) read_forward(dynamic, count_or(tokens, 16384));
    for (const char* role : {"rollout", "ref"})
      for (const char* key : {"log_prob_use_dynamic_bsz", "log_prob_max_token_len_per_gpu",
                              "log_prob_micro_batch_size_per_gpu", "log_prob_micro_batch_size"})
        all_.ignore(fmt::format("actor_rollout_ref.{}.{}", role, key),
                    "stands with post_training.forward_micro_batch_tokens, which is one for all roles");
  }

  void read_forward(bool dynamic, std::int64_t of_updates) {
    const std::string owner = "actor_rollout_ref.rollout.log_prob_";
    const std::string tokens = owner + "max_token_len_per_gpu", samples = owner + "micro_batch_size_per_gpu";
    const std::string key = in_section("forward_micro_batch_tokens");
    if (is_on(owner + "use_dynamic_bsz", dynamic)) {
      const std::int64_t packed = count_or(tokens, of_updates) * sequence_ranks_;
      all_.became(tokens, key, packed, "of all ranks that share sequences");
      draft_.default_to(key, packed, "as post_training.micro_batch_tokens");
    } else if (const auto number = all_.take_count(samples)) {
      all_.became(samples, key, std::min(*number, kMostCounted / longest_) * longest_,
                  "of the longest samples");
    }
  }

  /// States that leave the GPUs while another role works there.
  void read_copies() {
    const std::string actor =
        std::string(kActor.theirs) + (is_megatron("actor_rollout_ref.actor.") ? "megatron." : "fsdp_config.");
    const std::string weights = actor + "param_offload", states = actor + "optimizer_offload";
    const bool all = is_on(weights), optimizer = is_on(states);
    const bool told = all_.contains(weights) || all_.contains(states);
    if (!apart_ && told)
      all_.became(all || !all_.contains(states) ? weights : states, in_section("offload"),
                  all         ? "all"
                  : optimizer ? "optimizer"
                              : "none");
    for (const std::string& part : {weights, states, actor + "grad_offload"})
      all_.ignore(part, apart_ ? "rollouts have GPUs of their own" : "stands with post_training.offload");
    for (const char* engine : {"megatron", "fsdp_config"}) {
      const std::string reference = fmt::format("actor_rollout_ref.ref.{}.param_offload", engine);
      if (reference_ && is_on(reference)) all_.became(reference, in_section("swap_reference"), true);
    }
  }

  void read_gpus() {
    const std::int64_t of_node = count_or("trainer.n_gpus_per_node", 8);
    const std::int64_t nodes = count_or("trainer.nnodes", 1);
    if (!apart_) {
      all_.map_count("trainer.nnodes", launch::kNodes);
      all_.map_count("trainer.n_gpus_per_node", launch::kGpusPerNode);
      draft_.default_to(launch::kNodes, 1, kVerlDefault);
      return draft_.default_to(launch::kGpusPerNode, 8, kVerlDefault);
    }
    const std::int64_t rollouts =
        std::min(count_or("rollout.nnodes", 1) * count_or("rollout.n_gpus_per_node", of_node), kMostCounted);
    all_.became("rollout.n_gpus_per_node", in_section("roles.rollout.gpus"), rollouts,
                "times rollout.nnodes");
    draft_.default_to(in_section("roles.rollout.gpus"), rollouts, kVerlDefault);
    all_.ignore("rollout.nnodes", "stands with post_training.roles.rollout.gpus");
    const std::int64_t gpus = nodes * of_node + rollouts;
    all_.became("trainer.n_gpus_per_node", launch::kGpus, gpus, "of trainers and of rollouts");
    draft_.default_to(launch::kGpus, gpus, "of trainers and of rollouts");
    all_.ignore("trainer.nnodes", "stands with launch.gpus");
  }

  VerlSettings settings_;
  LaunchArguments all_;
  Draft& draft_;
  bool asynchronous_ = false;
  bool apart_ = false;
  bool reference_ = false;
  bool runs_forward_alone_ = true;
  std::int64_t longest_ = 1024;
  std::int64_t mini_batch_ = 256;
  std::int64_t updates_ = 1;
  std::int64_t sequence_ranks_ = 1;
};

void read_verl(const ImportContext& context, Draft& draft) { VerlReader(context, draft).read(); }

}  // namespace

const Importer kVerl{
    {"verl", "script or YAML of verl: reinforcement learning from rollouts"}, is_verl, read_verl};

}  // namespace orrery::importers::frameworks
