#include "workloads/schedules/placement.hpp"

namespace orrery {

std::int64_t ChunkMap::virtual_stage(ChunkPlace at) const {
  if (!reversed(at.chunk)) return at.chunk * ranks * (copies() > 1 ? 0 : 1) + at.rank;
  return virtual_stages() - 1 - at.rank;
}

ChunkPlace ChunkMap::place(std::int64_t virtual_stage, std::int64_t copy) const {
  const std::int64_t chunk = copies() > 1 ? copy : virtual_stage / ranks;
  return {reversed(chunk) ? virtual_stages() - 1 - virtual_stage : virtual_stage % ranks, chunk};
}

std::optional<ChunkPlace> ChunkMap::moved(ChunkPlace at, std::int64_t by) const {
  const std::int64_t to = virtual_stage(at) + by;
  if (to < 0 || to >= virtual_stages()) return {};
  return place(to, copy_of(at));
}

}  // namespace orrery
