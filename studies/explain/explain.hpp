// Lines a measured run up with the simulated one and attributes the difference.
#pragma once

#include "orrery/experiment.hpp"
#include "studies/explain/explanation.hpp"
#include "studies/explain/measured/measured.hpp"

namespace orrery {

/// Explains profiles where there are some, else logs of steps; collectives and requests beside them.
/// @throws InputError where measurements cannot be of the experiment, and as simulate()
[[nodiscard]] Explanation explain(const Experiment& experiment, const Measurements& measured);

/// Returns the profiles that PyTorch's profiler would have made of some ranks of the simulated run.
[[nodiscard]] std::vector<Profile> simulated_profiles(const Experiment& experiment,
                                                      const std::vector<std::uint32_t>& ranks);

}  // namespace orrery
