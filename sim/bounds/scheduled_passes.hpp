// Schedules the passes of a step in order, each as short as it can be: a lower bound of the step time, found
// without a graph of operations. For searches that leave out plans which cannot win.
#pragma once

#include "orrery/experiment.hpp"
#include "orrery/units.hpp"
#include "sim/bounds/block_times.hpp"

namespace orrery {

/// Passes wait for the passes that they take their input from, and those of a rank for each other's kernels;
/// the two of a pair come in turns, step by step. Messages between
/// stages take no time. 0 for orders of more than a million passes. The plan leaves nothing open
/// (with_resolved_plan(), sim/run/prepare.hpp).
/// @param times  with steps, where passes run side by side
[[nodiscard]] Picoseconds scheduled_passes(const Experiment& experiment, const LeastTimes& times);

}  // namespace orrery
