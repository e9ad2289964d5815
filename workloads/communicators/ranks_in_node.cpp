#include "workloads/communicators/ranks_in_node.hpp"

#include <algorithm>

namespace orrery {

std::int64_t ranks_in_node(const RankGrid& grid, Axis axis, const Cluster& cluster) {
  const std::int64_t gpus = cluster.gpus_per_domain();
  const std::int64_t ranks = grid.size(axis);
  const std::int64_t inside = std::min(ranks, gpus / grid.stride(axis));
  if (inside == 0 || ranks % inside != 0) return 0;
  const std::int64_t span = grid.stride(axis) * inside;
  return gpus % span == 0 || span % gpus == 0 ? inside : 0;
}

}  // namespace orrery
