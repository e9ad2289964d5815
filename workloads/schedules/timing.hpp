// Times the passes of a schedule if all chunks are alike and messages take no time, as in drawings of
// schedules. The simulator times a schedule on a real model and cluster.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/schedules/schedules.hpp"

namespace orrery {

/// Times of passes through one chunk; a whole backward pass takes as long as its two halves.
struct PassUnits {
  std::int64_t forward = 1;
  std::int64_t input = 1;
  std::int64_t weight = 1;

  [[nodiscard]] std::int64_t of(PassKind kind) const;
};

struct TimedPass {
  Pass pass;
  std::int64_t virtual_stage = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// The passes of each rank in order.
/// @throws RunError if the orders wait for each other.
[[nodiscard]] std::vector<std::vector<TimedPass>> time_schedule(const PipelineSchedule& schedule,
                                                                const ScheduleShape& shape,
                                                                const PassUnits& units = {});

}  // namespace orrery
