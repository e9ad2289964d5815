// A time that no step can fall below, from the prices of blocks alone: nothing is scheduled. For searches
// that leave out what cannot win.
#pragma once

#include "orrery/experiment.hpp"
#include "sim/step/memo.hpp"

namespace orrery {

/// Bounds the time of all steps of an experiment from below.
struct StepTimeBound {
  /// Some pipeline rank runs its passes one after the other, cannot begin before the passes of the stages
  /// before its first one, and is followed by theirs on the way back, or by sums of gradients that nothing
  /// hides. Where passes of two micro-batches run through each other it is what its busiest stream does.
  Picoseconds passes = 0;
  Picoseconds weights = 0;  ///< some rank sends and receives weights and gradients so long

  [[nodiscard]] Picoseconds most() const { return passes > weights ? passes : weights; }
};

/// None is longer than Report::makespan_ps: waits for other ranks, messages between stages and all that slows
/// kernels are left out. Zeros where workers keep no step. The plan leaves nothing open
/// (with_resolved_plan()).
[[nodiscard]] StepTimeBound least_makespan(const Experiment& experiment, Memo& memo);

/// Returns a lower bound of one step whose passes wait for each other as their schedule says
/// (scheduled_passes()). It is tighter where passes run side by side or stages differ, and takes about a
/// millisecond.
[[nodiscard]] Picoseconds least_scheduled_makespan(const Experiment& experiment, Memo& memo);

}  // namespace orrery
