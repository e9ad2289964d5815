// What a run leaves out that its figures would show: an exchange of models that comes less often than the
// steps that are simulated, and links that neighbours share.
#pragma once

#include <string>
#include <vector>

#include "orrery/experiment.hpp"

namespace orrery {

/// A sentence on each, with the key to change.
[[nodiscard]] std::vector<std::string> not_simulated(const Experiment& experiment);

}  // namespace orrery
