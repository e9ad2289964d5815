// The chart of memory: what a GPU of each pipeline stage holds, one part behind the other, and the card's
// limit.
#pragma once

#include "orrery/report.hpp"
#include "reports/chart/scene.hpp"

namespace orrery {

/// A row for each stage; neighbours that hold the same have one together.
/// @throws InputError for a report without the memory of stages
[[nodiscard]] ChartScene memory_scene(const Report& report);

}  // namespace orrery
