// What a plan does that costs more than it should, as sentences of a report: what a step waits for, compared
// with plans that differ in a key and fit as well.
#pragma once

#include <string>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/report.hpp"

namespace orrery {

/// Of an experiment that fits into memory, whose breakdown has been measured.
[[nodiscard]] std::vector<std::string> warnings(const Experiment& experiment, const Report& report);

}  // namespace orrery
