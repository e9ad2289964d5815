// Describes a step of reinforcement learning from rollouts: the samples that it generates, the roles that
// work on them, the GPUs on which they do, and the order of the phases. Made by config/, read by
// studies/post_training/.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "orrery/inference.hpp"

namespace orrery {

enum class PostTrainingAlgorithm : std::uint8_t {
  ppo,        ///< a critic gives values and is trained beside the actor (Schulman et al. 2017)
  grpo,       ///< samples of a prompt are compared with each other (Shao et al. 2024)
  dapo,       ///< the same, and groups that all succeed or all fail are replaced (Yu et al. 2025)
  rejection,  ///< the best sample of each prompt is trained on (Touvron et al. 2023, section 3.2.3)
};
inline constexpr std::array<std::string_view, 4> kPostTrainingAlgorithmNames{"ppo", "grpo", "dapo",
                                                                             "rejection"};

/// The models, or programs, that work on the samples of a step.
enum class PostTrainingRole : std::uint8_t { actor, rollout, reference, critic, reward };
inline constexpr std::size_t kPostTrainingRoleCount = 5;
inline constexpr std::array<std::string_view, kPostTrainingRoleCount> kPostTrainingRoleNames{
    "actor", "rollout", "reference", "critic", "reward"};

/// Says which roles have GPUs of their own.
enum class RolePlacement : std::uint8_t {
  colocated,      ///< none: all take turns on all GPUs
  disaggregated,  ///< rollouts; the other roles take turns on the rest
  hybrid,         ///< reference, critic and reward model; actor and rollouts take turns on the rest
};
inline constexpr std::array<std::string_view, 3> kRolePlacementNames{"colocated", "disaggregated", "hybrid"};

/// Says which weights a batch may be generated with.
enum class RolloutSchedule : std::uint8_t {
  synchronous,   ///< those of the latest update
  one_step_off,  ///< those before it: a batch is generated while the one before is trained on
  asynchronous,  ///< any that are at most PostTraining::max_staleness updates old
};
inline constexpr std::array<std::string_view, 3> kRolloutScheduleNames{"synchronous", "one-step-off",
                                                                       "asynchronous"};

/// Says how the weights of an update come to the rollouts.
enum class WeightSyncMethod : std::uint8_t {
  broadcast,          ///< a tensor at a time gathered on a trainer GPU, and broadcast to all rollout GPUs
  host_memory,        ///< to the memory of the trainers' hosts, from there over NICs, and to the GPUs
  checkpoint_engine,  ///< the same in buckets, which are on all three ways at a time
  packed_broadcast,   ///< broadcast in buckets by all trainers' NICs, while others are gathered and loaded
};
inline constexpr std::array<std::string_view, 4> kWeightSyncMethodNames{
    "broadcast", "host-memory", "checkpoint-engine", "packed-broadcast"};

/// Says which memory of the host states of a model are copied to and from.
enum class HostCopies : std::uint8_t {
  pinned,    ///< kept for them: copies go at the rate of the link
  pageable,  ///< allocated for each copy: the driver copies through a buffer of its own, and pages are mapped
};
inline constexpr std::array<std::string_view, 2> kHostCopiesNames{"pinned", "pageable"};

/// Says which states of the actor leave the GPU while rollouts are generated on it.
enum class StateOffload : std::uint8_t {
  automatic,  ///< the least of the following that makes room for the rollouts
  none,
  optimizer,  ///< main weights and moments
  all,        ///< weights too
};
inline constexpr std::array<std::string_view, 4> kStateOffloadNames{"auto", "none", "optimizer", "all"};

enum class RewardKind : std::uint8_t {
  none,      ///< a rule that takes no time
  model,     ///< a forward pass of a reward model
  verifier,  ///< programs beside the GPUs, such as a sandbox that runs tests
};
inline constexpr std::array<std::string_view, 3> kRewardKindNames{"none", "model", "verifier"};

struct PostTraining {
  PostTrainingAlgorithm algorithm = PostTrainingAlgorithm::grpo;
  std::int64_t prompts_per_step = 0;
  std::int64_t samples_per_prompt = 1;
  TokenLengths prompt;
  /// Lengths of outputs. Their mean is that of the lengths as they come out, cut to `most`, as logs print it.
  TokenLengths response;
  RequestTrace trace;                 ///< lengths of prompts and outputs, taken in turn; nothing: drawn
  double growth_tokens_per_step = 0;  ///< by which the mean output grows from a step to the next
  double kept_groups = 1;             ///< dapo: share of the groups whose samples differ in reward
  double oversampling = 1;            ///< prompts that are begun over those that a step needs
  std::int64_t updates_per_step = 1;
  std::int64_t epochs = 1;              ///< passes over the samples of a step
  std::int64_t micro_batch_tokens = 0;  ///< packed at most; 0: micro_batch_size of the longest samples
  std::int64_t forward_micro_batch_tokens = 0;  ///< of forward passes alone; 0: as micro_batch_tokens
  bool old_log_probabilities = true;  ///< the actor computes them again, since engines round differently
  bool prefix_sharing = true;         ///< samples of a prompt share its keys and values
  bool packing = true;  ///< samples share sequences; else each is padded to the longest of a step
  RewardKind reward = RewardKind::none;
  double verifier_latency_s = 0;
  std::int64_t verifier_width = 0;  ///< samples that are verified at a time; 0: all

  RolePlacement placement = RolePlacement::colocated;
  RolloutSchedule schedule = RolloutSchedule::synchronous;
  std::int64_t max_staleness = 0;  ///< updates
  bool partial_rollouts = false;   ///< samples go on with new weights; else a batch ends before they come
  bool whole_batches =
      false;  ///< partial_rollouts: a step takes the samples begun for it, not the first to end
  WeightSyncMethod weight_sync = WeightSyncMethod::broadcast;
  /// Host time to export a tensor of the model, name it as checkpoints do and load it: 160 us for Qwen3-30B
  /// and 200 us for Qwen3-235B in NeMo-RL of 2026 (pull request 3294: 2.98 s and 7.26 s), 770 us for the
  /// 45,400 of DeepSeek-V3 in 2025 (638: 55 s, of which 20 s are offloading). The default is between them in
  /// the ratio.
  double sync_tensor_us = 350;
  /// Host time of a parameter of the engine's model when it looks for the one that a tensor belongs to:
  /// loading lists all of them, once for each tensor of a broadcast. 1.0 to 1.5 us in an imitation of
  /// named_parameters; verl's measured hand-overs were known when it was chosen.
  double sync_parameter_us = 1.5;
  double sync_bucket_mb =
      1024;  ///< checkpoint_engine, packed_broadcast: 1e6 bytes that are on their way together
  StateOffload offload = StateOffload::automatic;
  bool swap_reference = false;  ///< its weights lie in the host's memory, and take the place of the actor's
  HostCopies host_copies = HostCopies::pinned;
  /// A GPU's copies to pageable memory that was never touched, and from such memory. NeMo-RL's: 1.7 to 3.9
  /// GB/s out (pull requests 638: 34.5 GB of DeepSeek-V3 in 20 s; 3294: 53 GB of Qwen3-235B in 22 s, 30 GB of
  /// Qwen3-30B in 8 to 10 s), and both ways 23 GB of Qwen3-30B in 12 s and 22 GB of Qwen3-235B in 9 s (1404).
  double pageable_out_gb_per_s = 2.5;
  double pageable_in_gb_per_s = 8;
  std::int64_t steps = 0;  ///< simulated; 0: one, or where steps overlap as many as settle
  std::array<std::int64_t, kPostTrainingRoleCount> gpus{};  ///< of each role; 0: as the placement says

  [[nodiscard]] std::int64_t samples_per_step() const { return prompts_per_step * samples_per_prompt; }
  /// Updates by which a sample may be older than the weights that it trains.
  [[nodiscard]] std::int64_t staleness_bound() const {
    if (schedule == RolloutSchedule::synchronous) return 0;
    return schedule == RolloutSchedule::one_step_off ? 1 : max_staleness;
  }
  /// Returns true if new weights come to samples that are under way.
  [[nodiscard]] bool is_streaming() const {
    return schedule == RolloutSchedule::asynchronous && partial_rollouts && max_staleness > 0;
  }
};

}  // namespace orrery
