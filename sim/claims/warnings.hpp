// Warns, in sentences of a report, of effects that its figures leave out, and of settings that cost more than
// they should (waits of a step, compared with plans that differ in a key and fit as well) or less than they
// would.
#pragma once

#include <string>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/report.hpp"

namespace orrery {

/// Returns warnings on an experiment that fits into memory and whose breakdown has been measured.
[[nodiscard]] std::vector<std::string> warnings(const Experiment& experiment, const Report& report);

}  // namespace orrery
