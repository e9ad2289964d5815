// Lists the assumptions of a result, in sentences that a reader can check.
#pragma once

#include <string>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/report.hpp"

namespace orrery {

[[nodiscard]] std::vector<std::string> assumptions(const Experiment& experiment, const Report& report);
[[nodiscard]] std::string memory_assumption(const Experiment& experiment);

}  // namespace orrery
