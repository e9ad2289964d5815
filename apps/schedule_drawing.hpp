// Draws a pipeline schedule with characters: a line for each pipeline rank, a cell for each unit of time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/schedules/timing.hpp"

namespace orrery {

struct ScheduleDrawing {
  std::vector<std::vector<TimedPass>> ranks;  ///< passes of each pipeline rank, in order
  std::int64_t chunks = 1;                    ///< per rank; a letter tells them apart if there are several
  int columns = 80;                           ///< of a line at most, but for a cell that is wider
  std::int64_t most_blocks = 0;               ///< of lines below each other, 0: as many as it takes
};

/// Lines of text, each ended: blocks of all ranks, each below a line that says at which unit of time it
/// begins; a last line says how much was left out.
[[nodiscard]] std::string draw_schedule(const ScheduleDrawing& drawing);

}  // namespace orrery
