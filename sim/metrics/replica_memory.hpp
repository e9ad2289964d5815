// Computes the memory over time of replicas that serve requests.
#pragma once

#include <vector>

#include "orrery/report.hpp"
#include "orrery/serving_record.hpp"

namespace orrery {

/// Returns the memory of a GPU of the fullest stage of each replica: weights, activations of the largest
/// iteration, and the KV blocks of requests.
[[nodiscard]] std::vector<MemoryTimeline> replica_memory(const ServingRecord& record);

}  // namespace orrery
