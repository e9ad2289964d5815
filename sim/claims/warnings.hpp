// Sentences of a report on what its figures leave out, and on what a plan does that costs more than it should
// (what a step waits for, compared with plans that differ in a key and fit as well) or less than it would.
#pragma once

#include <string>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/report.hpp"

namespace orrery {

/// Returns warnings on an experiment that fits into memory and whose breakdown has been measured.
[[nodiscard]] std::vector<std::string> warnings(const Experiment& experiment, const Report& report);

}  // namespace orrery
