// One worker of each node exchanges with other nodes while the others exchange within: BlueFog's
// GetInnerOuterRingDynamicSendRecvRanks and GetInnerOuterExpo2DynamicSendRecvRanks. Round k sends the local
// worker k mod g outside; the other g - 1 form a circle that leaves it out.
#include <numeric>

#include "orrery/error.hpp"
#include "topologies/gossip/wiring.hpp"

namespace orrery {
namespace {

struct NodeGrid {
  std::int64_t nodes;
  std::int64_t per_node;
};

NodeGrid node_grid(const DataParallelSync& sync, const GossipSize& size) {
  if (size.workers_per_node <= 2) {
    throw InputError("/data_parallel_sync/topology", "found \"" + sync.topology + "\" with " +
                                                         std::to_string(size.workers_per_node) +
                                                         " workers per node; allowed are at least 3");
  }
  if (size.workers % size.workers_per_node != 0) {
    throw InputError("/data_parallel_sync/topology",
                     "found \"" + sync.topology + "\" over " + std::to_string(size.workers) +
                         " workers; allowed are whole nodes of " + std::to_string(size.workers_per_node));
  }
  return {size.workers / size.workers_per_node, size.workers_per_node};
}

/// The local worker `distance` places before `local` on the circle of all but `outside`.
std::int64_t inner_source(std::int64_t local, std::int64_t distance, std::int64_t outside, std::int64_t g) {
  const std::int64_t to_outside = ((local - outside) % g + g) % g;
  const std::int64_t skipping = distance >= to_outside ? distance + 1 : distance;
  return ((local - skipping) % g + g) % g;
}

Mixing round_of(const NodeGrid& grid, std::int64_t outside, std::int64_t outer_distance,
                std::int64_t inner_distance) {
  RowWriter rows(static_cast<std::uint32_t>(grid.nodes * grid.per_node));
  for (std::int64_t node = 0; node < grid.nodes; ++node) {
    for (std::int64_t local = 0; local < grid.per_node; ++local) {
      const std::int64_t from_node =
          local == outside ? ((node - outer_distance) % grid.nodes + grid.nodes) % grid.nodes : node;
      const std::int64_t from_local =
          local == outside ? local : inner_source(local, inner_distance, outside, grid.per_node);
      rows.add(from_node * grid.per_node + from_local);
      rows.end_row();
    }
  }
  return rows.take();
}

}  // namespace

Wiring wire_inner_outer_ring(const DataParallelSync& sync, const GossipSize& size) {
  const NodeGrid grid = node_grid(sync, size);
  check_edge_count(sync, size, static_cast<double>(grid.per_node) * size.workers);
  Wiring wiring;
  for (std::int64_t k = 0; k < grid.per_node; ++k) wiring.rounds.push_back(round_of(grid, k, 1, 1));
  return wiring;
}

Wiring wire_inner_outer_exponential(const DataParallelSync& sync, const GossipSize& size) {
  const NodeGrid grid = node_grid(sync, size);
  const std::int64_t outer = grid.nodes > 1 ? log2_floor(grid.nodes - 1) + 1 : 1;
  const std::int64_t inner = log2_floor(grid.per_node - 2) + 1;
  const std::int64_t rounds = std::lcm(grid.per_node, std::lcm(outer, inner));
  check_edge_count(sync, size, static_cast<double>(rounds) * size.workers);
  Wiring wiring;
  for (std::int64_t k = 0; k < rounds; ++k) {
    wiring.rounds.push_back(
        round_of(grid, k % grid.per_node, std::int64_t{1} << (k % outer), std::int64_t{1} << (k % inner)));
  }
  return wiring;
}

}  // namespace orrery
