#include "config/experiment/post_training_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "config/experiment/read_parts.hpp"
#include "config/schema/fields.hpp"
#include "config/text/wording.hpp"

namespace orrery {
namespace {

constexpr double kMostSamples = 1e6;
constexpr double kMostTokens = 1e9;

class SectionReader {
 public:
  SectionReader(const Json& value, const Experiment& whole, const Path& path, Scope& scope)
      : value_(value), whole_(whole), path_(path), scope_(scope) {}

  PostTraining read() {
    read_fields(value_, post_training_fields(), section_, path_, scope_);
    if (!value_.is_object()) return section_;
    for (const char* key : {"algorithm", "prompts_per_step"})
      require(value_, post_training_fields(), key, "post_training", path_, scope_);
    read_lengths();
    read_roles();
    if (!value_.contains("max_staleness") && section_.schedule == RolloutSchedule::asynchronous)
      section_.max_staleness = 1;
    if (scope_.findings.empty()) check();
    return section_;
  }

 private:
  void read_lengths() {
    const auto file = value_.find("lengths");
    if (file != value_.end()) {
      constexpr std::int64_t kAnyContext = 100'000'000;
      if (file->is_string())
        section_.trace =
            read_request_trace(file->get<std::string>(), kAnyContext, false, Path(path_, "lengths"), scope_);
      for (const std::string_view key : {"prompt_tokens", "response_tokens", "growth_tokens_per_step"})
        if (value_.contains(key)) refuse(key, "found beside a file of lengths, which has these");
      return;
    }
    constexpr std::string_view kOwner = "post_training without a file of lengths";
    read_token_lengths(value_, field_named(post_training_fields(), "prompt_tokens"), kOwner, section_.prompt,
                       path_, scope_);
    read_token_lengths(value_, field_named(post_training_fields(), "response_tokens"), kOwner,
                       section_.response, path_, scope_);
    check_bounded("prompt_tokens", section_.prompt);
    check_bounded("response_tokens", section_.response);
    idle("growth_tokens_per_step", section_.response.kind == LengthKind::log_normal, "log-normal responses");
  }

  /// Micro-batches and caches are made for the longest sample.
  void check_bounded(std::string_view key, const TokenLengths& lengths) {
    if (lengths.kind == LengthKind::fixed) return;
    const Path path(path_, key);
    if (lengths.most == 0 && scope_.findings.empty())
      scope_.findings.add(path, "found lengths without max, allowed with the longest that is generated");
    if (lengths.kind == LengthKind::log_normal && lengths.most > 0 && lengths.mean >= lengths.most)
      scope_.findings.add(Path(path, "mean"),
                          fmt::format("found {}, allowed less than max {}", lengths.mean, lengths.most));
  }

  void read_roles() {
    const auto roles = value_.find("roles");
    if (roles == value_.end()) return;
    const Path path(path_, "roles");
    if (!expect_object(*roles, path, scope_)) return;
    const std::vector<std::string_view> known(kPostTrainingRoleNames.begin(), kPostTrainingRoleNames.end());
    for (const auto& [name, keys] : roles->items()) {
      const auto found = std::ranges::find(known, name);
      if (found == known.end()) {
        report_unknown_key(name, known, Path(path, name), scope_);
        continue;
      }
      read_role(static_cast<PostTrainingRole>(found - known.begin()), keys, Path(path, *found));
    }
  }

  void read_role(PostTrainingRole role, const Json& keys, const Path& path) {
    RoleKeys read;
    read_fields(keys, role_fields(), read, path, scope_);
    if (!keys.is_object()) return;
    section_.gpus[static_cast<std::size_t>(role)] = read.gpus;
    const bool rewards = role == PostTrainingRole::reward;
    const bool serves = role == PostTrainingRole::rollout;
    only(keys, "inference", serves, "rollout", path);
    only(keys, "cluster", serves && section_.placement == RolePlacement::disaggregated,
         "disaggregated rollout", path);
    only(keys, "model", role == PostTrainingRole::critic || rewards, "critic and reward", path);
    only(keys, "kind", rewards, "reward", path);
    const bool verifies = rewards && read.kind == RewardKind::verifier;
    only(keys, "latency_s", verifies, "reward of kind verifier", path);
    only(keys, "width", verifies, "reward of kind verifier", path);
    if (!rewards) return;
    const bool computes = read.kind == RewardKind::model;
    for (const char* key : {"plan", "stack", "software", "gpus", "model"})
      only(keys, key, computes, "reward of kind model", path);
    section_.reward = read.kind;
    section_.verifier_latency_s = read.latency_s;
    section_.verifier_width = read.width;
  }

  void only(const Json& keys, const char* key, bool allowed, std::string_view owner, const Path& path) {
    if (!keys.contains(key) || allowed) return;
    scope_.findings.add(Path(path, key), fmt::format("found a key that only {} has", owner), Anchor::key);
  }

  void refuse(std::string_view key, const std::string& message) {
    scope_.findings.add(Path(path_, key), message, Anchor::key);
  }

  void idle(std::string_view key, bool acts, std::string_view beside) {
    if (value_.contains(key) && !acts)
      refuse(key, fmt::format("found without {}, where it does nothing", beside));
  }

  void check() {
    check_sizes();
    check_schedule();
    idle("max_staleness", section_.schedule == RolloutSchedule::asynchronous, "schedule asynchronous");
    idle("partial_rollouts", section_.schedule == RolloutSchedule::asynchronous, "schedule asynchronous");
    idle("kept_groups", section_.algorithm == PostTrainingAlgorithm::dapo, "algorithm dapo");
    idle("weight_sync", section_.placement == RolePlacement::disaggregated, "placement disaggregated");
    idle("sync_parameter_us",
         section_.placement == RolePlacement::disaggregated &&
             section_.weight_sync == WeightSyncMethod::broadcast,
         "placement disaggregated and weight_sync broadcast");
    idle("sync_bucket_mb",
         section_.weight_sync == WeightSyncMethod::checkpoint_engine ||
             section_.weight_sync == WeightSyncMethod::packed_broadcast,
         "weight_sync checkpoint-engine or packed-broadcast");
    idle("whole_batches", section_.is_streaming(), "partial_rollouts");
    check_copies();
    idle("offload", section_.placement != RolePlacement::disaggregated, "placement colocated or hybrid");
    idle("forward_micro_batch_tokens", computes_forward_alone(),
         "old_log_probabilities, a reference, a critic or a reward model");
    const auto differ = [](const TokenLengths& lengths) { return lengths.kind != LengthKind::fixed; };
    idle("packing", section_.trace.has_value() || differ(section_.prompt) || differ(section_.response),
         "samples of unlike lengths");
    idle("prefix_sharing", section_.samples_per_prompt > 1, "several samples_per_prompt");
    const Json* roles = value_.contains("roles") ? &value_["roles"] : nullptr;
    if (section_.algorithm != PostTrainingAlgorithm::ppo && roles != nullptr && roles->contains("critic"))
      scope_.findings.add(Path(Path(path_, "roles"), "critic"),
                          "found a critic, allowed with algorithm ppo alone", Anchor::key);
  }

  void check_copies() {
    const bool has_reference = value_.contains("roles") && value_["roles"].contains("reference");
    const bool shares = has_reference && section_.placement != RolePlacement::hybrid;
    idle("swap_reference", shares, "a reference on the actor's GPUs");
    const bool offloads =
        section_.placement != RolePlacement::disaggregated && section_.offload != StateOffload::none;
    idle("host_copies", offloads || section_.swap_reference, "offload or swap_reference, which copy states");
    for (const char* key : {"pageable_out_gb_per_s", "pageable_in_gb_per_s"})
      idle(key, section_.host_copies == HostCopies::pageable, "host_copies pageable");
  }

  [[nodiscard]] bool computes_forward_alone() const {
    if (section_.old_log_probabilities || section_.reward == RewardKind::model) return true;
    if (section_.algorithm == PostTrainingAlgorithm::ppo) return true;
    return value_.contains("roles") && value_["roles"].contains("reference");
  }

  void check_sizes() {
    const double samples = static_cast<double>(section_.samples_per_step()) * section_.oversampling;
    const double tokens = samples * static_cast<double>(mean_tokens());
    if (samples > kMostSamples || tokens > kMostTokens)
      refuse("samples_per_prompt",
             fmt::format("found {:.3g} samples with {:.3g} tokens a step, allowed {:.0e} "
                         "with {:.0e}",
                         samples, tokens, kMostSamples, kMostTokens));
    const std::int64_t trained = section_.algorithm == PostTrainingAlgorithm::rejection
                                     ? section_.prompts_per_step
                                     : section_.samples_per_step();
    if (section_.updates_per_step > trained)
      refuse("updates_per_step", fmt::format("found {}, allowed at most {}, the samples that are trained on",
                                             section_.updates_per_step, trained));
  }

  [[nodiscard]] std::int64_t mean_tokens() const {
    if (!section_.trace.has_value()) return section_.prompt.mean + section_.response.mean;
    std::int64_t sum = 0;
    for (const RequestSpec& request : *section_.trace) sum += request.prompt_tokens + request.output_tokens;
    return sum / static_cast<std::int64_t>((*section_.trace).size()) + 1;
  }

  void check_schedule() {
    if (section_.schedule != RolloutSchedule::synchronous &&
        section_.placement != RolePlacement::disaggregated)
      refuse("schedule",
             fmt::format("found {} with placement {}, where rollouts and updates take turns; allowed "
                         "synchronous, or placement disaggregated",
                         kRolloutScheduleNames[static_cast<std::size_t>(section_.schedule)],
                         kRolePlacementNames[static_cast<std::size_t>(section_.placement)]));
    if (section_.is_streaming() && section_.verifier_width > 0)
      scope_.findings.add(
          "/post_training/roles/reward/width",
          "found with partial_rollouts, whose samples do not wait for each other; allowed none", Anchor::key);
    if (section_.partial_rollouts && section_.max_staleness == 0)
      refuse("partial_rollouts", "found with max_staleness 0, where no sample may outlive its weights");
    if (section_.is_streaming() && (section_.oversampling > 1 || section_.kept_groups < 1))
      refuse(section_.oversampling > 1 ? "oversampling" : "kept_groups",
             "found with partial_rollouts, where a step takes the samples that end first; allowed 1");
  }

  const Json& value_;
  const Experiment& whole_;
  const Path& path_;
  Scope& scope_;
  PostTraining section_;
};

}  // namespace

PostTraining read_post_training_section(const Json& value, const Experiment& whole, const Path& path,
                                        Scope& scope) {
  return SectionReader(value, whole, path, scope).read();
}

}  // namespace orrery
