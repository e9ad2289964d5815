// Writes a run over time as columns of a page: how all GPUs spend each moment, and the memory of each stage.
// Internal to reports/page/.
#pragma once

#include "reports/page/page.hpp"
#include "reports/text/json_text.hpp"
#include "sim/metrics/build_report.hpp"

namespace orrery {

/// Moments of equal length that a run is cut into.
inline constexpr std::uint32_t kMoments = 480;

/// Column "course": GPU picoseconds by moment, then by activity; of all GPUs.
void add_course(const RunView& run, Page& page);

/// Columns "memory.stage", "memory.at", "memory.bytes": the most that a stage holds from a time to the next.
void add_memory(const RunView& run, std::size_t stages, Page& page);

/// Writes member "links" of the open object: the number of links of each kind and bandwidth, and their
/// traffic.
void write_links(const RunView& run, JsonText& text);

}  // namespace orrery
