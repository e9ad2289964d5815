// What a result rests on, in sentences a reader can check.
#pragma once

#include <string>
#include <vector>

#include "orrery/experiment.hpp"
#include "sim/run/run.hpp"

namespace orrery {

[[nodiscard]] std::vector<std::string> assumptions(const Experiment& experiment, const Run& run);
[[nodiscard]] std::string memory_assumption(const Plan& plan);

}  // namespace orrery
