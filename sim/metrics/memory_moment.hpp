// When in a run a stage holds most memory, and what it holds over time.
#pragma once

#include <optional>

#include "sim/metrics/build_report.hpp"

namespace orrery {

/// Start of what StageMemory::moment names, on the stage that holds most; nothing where the run has no such
/// operation.
[[nodiscard]] std::optional<Picoseconds> time_of_peak(const RunView& run);

/// What a GPU of each stage holds, from each of the times on. The first point is of time 0.
[[nodiscard]] std::vector<MemoryTimeline> memory_over_time(const RunView& run);

}  // namespace orrery
