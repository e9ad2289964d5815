// Finds options that a plan leaves off although they would make its step faster at no other cost; users
// usually turn them on and easily forget them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/report.hpp"

namespace orrery {

/// A sentence with the step time on each change by which a feasible step gets 2 % shorter or more: sequence
/// parallelism, gradients and parameters that travel beside compute, fused attention. Each is simulated; none
/// are where the step of `report` has more than a million tasks or 65,536 GPUs, where workers keep no step
/// with each other, and beside `inference`.
/// @param changed  the experiment with one more KEY=VALUE; throws InputError where it cannot have it
[[nodiscard]] std::vector<std::string> costly_defaults(
    const Experiment& experiment, const Report& report,
    const std::function<Experiment(const std::string& override)>& changed);

}  // namespace orrery
