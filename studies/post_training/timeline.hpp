// Lays the phases of steps out in time, a function for each way to order them, and sums them up.
#pragma once

#include <vector>

#include "studies/post_training/batches.hpp"
#include "studies/post_training/post_training.hpp"

namespace orrery {

/// Holds what all timelines need beside their batches.
struct StepSetting {
  const PostTrainingExperiment& experiment;
  BatchMaker& batches;
  Picoseconds sync_ps = 0;
  Picoseconds to_host_ps = 0;
  Picoseconds from_host_ps = 0;
};

/// Steps without overlap: each phase begins when the one before has ended.
/// @param first  the first batch
void take_turns(const StepSetting& setting, Batch first, PostTrainingResult& result);

/// Batches are generated ahead of the updates, up to the bound of staleness, each to its end.
void generate_ahead(const StepSetting& setting, Batch first, PostTrainingResult& result);

/// Samples are generated without a break, and updates take those that end first.
void generate_on(const StepSetting& setting, PostTrainingResult& result);

/// Adds a phase to a timeline; returns its end.
Picoseconds add_span(PostTrainingResult& result, PostTrainingPhase phase, GpuPool pool, std::int64_t step,
                     Picoseconds start_ps, Picoseconds duration_ps);

/// Adds the phases of training on a batch from `start_ps` on; returns their end.
Picoseconds add_training(const PostTrainingExperiment& experiment, const TrainingWork& work,
                         std::int64_t step, Picoseconds start_ps, PostTrainingResult& result);

/// Adds the time for which a step waits for a phase.
inline void add_exposed(PostTrainingResult& result, PostTrainingPhase phase, Picoseconds time) {
  result.exposed[static_cast<std::size_t>(phase)] += time;
}

/// Counts the samples of a batch and their tokens.
void count_samples(const std::vector<Sample>& trained, PostTrainingResult& result);

/// Samples under way at shares of the time of generation.
[[nodiscard]] std::vector<RunningSamples> running_samples(const Generation& generation);

}  // namespace orrery
