// Computes a lower bound of the step time from the prices of blocks alone, without a schedule. For searches
// that leave out plans which cannot win.
#pragma once

#include "sim/step/memo.hpp"
#include "sim/step/prepared_experiment.hpp"

namespace orrery {

/// Bounds the time of all steps of an experiment from below.
struct StepTimeBound {
  /// Lower bound: one pipeline rank's passes in sequence, plus the first micro-batch's way through the stages
  /// before it and the last one's way back, or exposed sums of gradients. If passes of two micro-batches
  /// alternate, it is the time of the rank's busiest stream.
  Picoseconds passes = 0;
  Picoseconds weights = 0;  ///< some rank sends and receives weights and gradients so long

  [[nodiscard]] Picoseconds most() const { return passes > weights ? passes : weights; }
};

/// None is longer than Report::makespan_ps: waits for other ranks, messages between stages and all that slows
/// kernels are left out. Zeros where workers keep no step.
[[nodiscard]] StepTimeBound least_makespan(const PreparedExperiment& prepared, Memo& memo);

/// Returns the time below which no step falls whose passes wait for each other as their schedule says
/// (scheduled_passes()): tighter where passes run side by side or stages are unlike, and found in about a
/// millisecond.
[[nodiscard]] Picoseconds least_scheduled_makespan(const PreparedExperiment& prepared, Memo& memo);

}  // namespace orrery
