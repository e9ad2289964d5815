// Lists the effects that a run leaves out although its figures depend on them: model exchanges that are rarer
// than the simulated steps, and links that neighbours share.
#pragma once

#include <string>
#include <vector>

#include "orrery/experiment.hpp"

namespace orrery {

/// A sentence on each, with the key to change.
[[nodiscard]] std::vector<std::string> not_simulated(const Experiment& experiment);

}  // namespace orrery
