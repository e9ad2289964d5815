// Workers in a circle.
#include <array>

#include "topologies/gossip/wiring.hpp"

namespace orrery {

Wiring wire_ring(const DataParallelSync& sync, const GossipSize& size) {
  check_edge_count(sync, size, 2.0 * size.workers);
  return one_round(shift_round(size.workers, std::array<std::int64_t, 2>{1, -1}));
}

Wiring wire_one_way_ring(const DataParallelSync& sync, const GossipSize& size) {
  check_edge_count(sync, size, size.workers);
  return one_round(shift_round(size.workers, std::array<std::int64_t, 1>{1}));
}

}  // namespace orrery
