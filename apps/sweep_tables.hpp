// Writes the contents of a results file as text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "planner/sweep/results_table.hpp"
#include "planner/sweep/sweep.hpp"

namespace orrery {

/// Returns the number of points, their outcomes, and the reasons that removed some.
[[nodiscard]] std::string summary_text(const SweepSummary& summary, const std::string& file,
                                       std::size_t width);

/// Points with their values, the figures that were aimed at, and some others.
[[nodiscard]] std::string points_text(const ResultsTable& table, const std::vector<std::uint64_t>& points,
                                      std::span<const Aim> aims, std::size_t width, bool colour);

}  // namespace orrery
