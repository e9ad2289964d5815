// What a plan does that costs more than it should, as sentences of a report: computed by comparing it with
// plans that differ in a key and fit as well.
#pragma once

#include <string>
#include <vector>

#include "orrery/experiment.hpp"

namespace orrery {

/// Of an experiment that fits into memory.
[[nodiscard]] std::vector<std::string> warnings(const Experiment& experiment);

}  // namespace orrery
