// Draws the points of a sweep: one figure or key over another, or the best value of a figure by two keys.
#pragma once

#include <string>
#include <string_view>

#include "planner/sweep/results_table.hpp"
#include "reports/chart/scene.hpp"

namespace orrery {

/// Returns a scatter for `axes` X:Y and a heat map for X:Y:FIGURE, of feasible points; of names the last
/// parts suffice. "": the usual figure over memory.peak_gb where the file has it, else over the first key.
/// @throws InputError for a key or figure that the file has not
[[nodiscard]] ChartScene sweep_scene(const ResultsTable& table, std::string_view axes);

}  // namespace orrery
