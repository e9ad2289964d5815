// Steps and time to an experiment's target accuracy, from the rates of the literature. Internal to
// studies/compare/.
#pragma once

#include <optional>

#include "orrery/experiment.hpp"
#include "studies/compare/compare.hpp"

namespace orrery {

/// None where the experiment names no target. `report` is that of its simulated step.
/// @throws InputError as build_gossip_graph().
[[nodiscard]] std::optional<TargetSummary> target_of(const Experiment& experiment, const Report& report);

}  // namespace orrery
