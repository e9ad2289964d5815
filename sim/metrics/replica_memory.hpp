// What replicas that serve requests hold over time.
#pragma once

#include <vector>

#include "orrery/report.hpp"
#include "orrery/serving_record.hpp"

namespace orrery {

/// What a GPU of the fullest stage of each replica holds: weights, activations of the largest iteration, and
/// the pages of requests.
[[nodiscard]] std::vector<MemoryTimeline> replica_memory(const ServingRecord& record);

}  // namespace orrery
