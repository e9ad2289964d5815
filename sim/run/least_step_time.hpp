// A time that no step can fall below, from the prices of blocks alone: nothing is scheduled. For searches
// that leave out what cannot win.
#pragma once

#include "orrery/experiment.hpp"
#include "sim/run/memo.hpp"

namespace orrery {

/// Of all steps of the experiment (Report::makespan_ps): some pipeline rank runs its passes one after the
/// other, cannot begin before the passes of the stages before its first one, and is followed by theirs on the
/// way back. Messages of data parallelism, waits for other ranks and all that slows kernels are left out. 0
/// where workers keep no step. The plan leaves nothing open (with_concrete_plan()).
[[nodiscard]] Picoseconds least_makespan(const Experiment& experiment, Memo& memo);

}  // namespace orrery
