// Prices forward passes alone, as log-probabilities, values and rewards of a model need them: those of a
// training step whose schedule has all of them before any backward pass.
#pragma once

#include "orrery/experiment.hpp"
#include "orrery/units.hpp"
#include "sim/step/memo.hpp"

namespace orrery {

/// Returns the time from the beginning of a step until the forward passes of all its micro-batches are over.
/// @throws InputError as simulate()
[[nodiscard]] Picoseconds forward_time(Experiment experiment, Memo& memo);

}  // namespace orrery
