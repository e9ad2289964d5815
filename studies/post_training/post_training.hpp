// Simulates steps of reinforcement learning from rollouts: phases that the serving and the training
// simulation price, on the GPUs and in the order that an experiment gives them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/experiment/read_post_training.hpp"
#include "orrery/post_training.hpp"
#include "orrery/serving.hpp"
#include "orrery/units.hpp"
#include "studies/post_training/weight_sync.hpp"

namespace orrery {

enum class PostTrainingPhase : std::uint8_t {
  weight_sync,
  generation,
  reward,
  old_log_probabilities,
  reference,
  values,
  update_critic,
  update_actor,
  switching,
};
inline constexpr std::size_t kPostTrainingPhaseCount = 9;
inline constexpr std::array<std::string_view, kPostTrainingPhaseCount> kPostTrainingPhaseNames{
    "weight_sync",   "generation",   "reward",   "old_log_probabilities", "reference", "values",
    "update_critic", "update_actor", "switching"};

/// Names the GPUs on which phases take turns.
enum class GpuPool : std::uint8_t { trainers, rollouts, reference, critic, reward };
inline constexpr std::array<std::string_view, 5> kGpuPoolNames{"trainers", "rollouts", "reference", "critic",
                                                               "reward"};

struct PhaseSpan {
  PostTrainingPhase phase{};
  GpuPool pool{};
  std::int64_t step = 0;
  Picoseconds start_ps = 0;
  Picoseconds finish_ps = 0;
};

/// Durations by PostTrainingPhase.
using PhaseTimes = std::array<Picoseconds, kPostTrainingPhaseCount>;

struct RoleMemory {
  PostTrainingRole role{};
  std::int64_t gpus = 0;
  Bytes states = 0;     ///< of a GPU of the fullest stage: what is held from step to step
  Bytes peak = 0;       ///< the most that it holds while the role works
  Bytes usable = 0;     ///< that a process can allocate there; 0: unknown
  Bytes offloaded = 0;  ///< of the states, what leaves while rollouts run
};

/// GPU-time without work, by reason.
struct IdleGpus {
  Int128 tail_ps = 0;      ///< replicas that have ended, until the last sample of the batch has
  Int128 rollouts_ps = 0;  ///< rollout GPUs wait for updates
  Int128 trainers_ps = 0;  ///< trainer GPUs wait for samples
  Int128 others_ps = 0;    ///< GPUs of reference, critic and reward model
};

struct RunningSamples {
  double share = 0;          ///< of the time of generation
  std::int64_t samples = 0;  ///< under way then
};

struct PostTrainingResult {
  std::string name;
  PostTraining section;
  bool feasible = true;
  std::vector<std::string> reasons;
  std::vector<std::string> warnings;
  std::vector<std::string> assumptions;
  std::int64_t gpus = 0;
  std::int64_t steps = 0;          ///< that the figures are of
  Picoseconds duration_ps = 0;     ///< of them together
  PhaseTimes phases{};             ///< summed over the steps
  PhaseTimes exposed{};            ///< the part for which a step waits; adds up to `duration_ps`
  std::int64_t samples = 0;        ///< trained on
  std::int64_t generated = 0;      ///< samples whose generation was begun for them
  std::int64_t prompt_tokens = 0;  ///< of samples that are trained on
  std::int64_t response_tokens = 0;
  IdleGpus idle;
  std::vector<RunningSamples> running;  ///< of the first step
  std::vector<std::int64_t> staleness;  ///< samples by updates between their begin and their own update
  std::vector<RoleMemory> memory;
  WeightSync sync;
  std::int64_t micro_batches = 0;  ///< of a replica in an update of the first step
  double imbalance = 1;            ///< tokens of the fullest replica over the mean one, in it
  double fill = 1;                 ///< tokens of samples over those computed, in it
  double batch_mean = 0;           ///< requests of an iteration of the engine
  std::int64_t preemptions = 0;
  std::vector<PhaseSpan> spans;  ///< from the beginning of the first step of the figures

  [[nodiscard]] double seconds() const { return to_seconds(duration_ps); }
  [[nodiscard]] double step_time_s() const { return seconds() / static_cast<double>(steps); }
  [[nodiscard]] double samples_per_s() const { return static_cast<double>(samples) / seconds(); }
  [[nodiscard]] double tokens_per_s() const {
    return static_cast<double>(prompt_tokens + response_tokens) / seconds();
  }
  [[nodiscard]] double generation_share() const;
  [[nodiscard]] double mean_staleness() const;
  [[nodiscard]] double gpu_hours_per_step() const { return static_cast<double>(gpus) * step_time_s() / 3600; }
};

/// @throws InputError where a role's plan cannot be simulated
[[nodiscard]] PostTrainingResult simulate_post_training(const PostTrainingExperiment& experiment);

/// The summary, and the result as JSON and as one row of CSV.
[[nodiscard]] std::string post_training_text(const PostTrainingResult& result);
[[nodiscard]] std::string post_training_json(const PostTrainingResult& result, int indent);
[[nodiscard]] std::string post_training_csv(const PostTrainingResult& result);
/// The phases as a trace in Chrome's form: a process for the GPUs that take turns, a thread a phase.
[[nodiscard]] std::string post_training_trace(const PostTrainingResult& result);

}  // namespace orrery
