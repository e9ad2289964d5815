#include "sim/metrics/replica_memory.hpp"

namespace orrery {

std::vector<MemoryTimeline> replica_memory(const ServingRecord& record) {
  std::vector<MemoryTimeline> replicas(record.replicas, MemoryTimeline{{0, record.held_bytes}});
  for (const ReplicaState& state : record.states) {
    const MemoryPoint point{state.at_ps, record.held_bytes + record.cache_bytes(state.pages)};
    MemoryTimeline& points = replicas[state.replica];
    if (points.back().at_ps == point.at_ps) {
      points.back() = point;
    } else if (points.back().bytes != point.bytes) {
      points.push_back(point);
    }
  }
  return replicas;
}

}  // namespace orrery
