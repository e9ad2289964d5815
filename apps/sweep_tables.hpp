// What a file of results has, as text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "planner/sweep/results_table.hpp"
#include "planner/sweep/sweep.hpp"

namespace orrery {

/// How many points there are, what became of them, and what removed the others.
[[nodiscard]] std::string summary_text(const SweepSummary& summary, const std::string& file,
                                       std::size_t width);

/// Points with their values, the figures that were aimed at, and some others.
[[nodiscard]] std::string points_text(const ResultsTable& table, const std::vector<std::uint64_t>& points,
                                      std::span<const Aim> aims, std::size_t width, bool colour);

}  // namespace orrery
