#include "sim/metrics/replica_memory.hpp"

namespace orrery {

std::vector<MemoryTimeline> replica_memory(const ServingRecord& record) {
  std::vector<MemoryTimeline> replicas;
  for (std::uint32_t replica = 0; replica < record.replicas; ++replica)
    replicas.push_back({{0, record.room_of(replica).held_bytes}});
  for (const ReplicaState& state : record.states) {
    const Bytes held = record.room_of(state.replica).held_bytes;
    const MemoryPoint point{state.at_ps, held + record.cache_bytes(state.replica, state.pages)};
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
