// Where every simulation begins: an experiment with nothing of its plan left open, its ranks laid out, its
// stages outlined and its cluster wired.
#pragma once

#include "orrery/experiment.hpp"
#include "sim/step/memo.hpp"
#include "sim/step/prepared_experiment.hpp"

namespace orrery {

/// `experiment` with the layers of stages, the batches of replicas and the group of ZeRO chosen, in this
/// order, where its plan leaves them open (`auto`).
/// @throws InputError where a choice cannot be made
[[nodiscard]] Experiment with_resolved_plan(Experiment experiment, Memo& memo);

/// @throws InputError as with_resolved_plan() and PreparedExperiment
[[nodiscard]] PreparedExperiment prepare(const Experiment& experiment, Memo& memo);

}  // namespace orrery
