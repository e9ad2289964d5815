// Measures the cost of a run in this process.
#pragma once

#include <chrono>

#include "orrery/report.hpp"

namespace orrery {

/// Fills in wall clock since `begin`, tasks per second and peak memory of the process.
void measure_process(std::chrono::steady_clock::time_point begin, RunStats& stats);

}  // namespace orrery
