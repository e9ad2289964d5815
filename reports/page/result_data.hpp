// Writes the part of the result that pages of all kinds of runs show.
#pragma once

#include <string>

#include "orrery/report.hpp"

namespace orrery {

/// Returns members of an object of JSON: `result` with all keys but those that depend on the machine it was
/// simulated on, `plan` in words, and `resolved`, the experiment as `simulate --resolved` prints it.
[[nodiscard]] std::string result_data(const Report& report, const std::string& resolved);

}  // namespace orrery
