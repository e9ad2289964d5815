// Fits constants of memory: lists these constants and the rows they are fitted to. Internal to calibrate/.
#pragma once

#include <string_view>
#include <vector>

#include "studies/calibrate/fit_problem.hpp"

namespace orrery {

/// Returns true if a constant changes memory and no time.
[[nodiscard]] bool is_memory_constant(std::string_view key);

/// `row` once for each quantity of memory that was measured: allocated, reserved, used on the device.
[[nodiscard]] std::vector<FitRow> memory_rows(const FitRow& row, const MeasuredRow& measured);

}  // namespace orrery
