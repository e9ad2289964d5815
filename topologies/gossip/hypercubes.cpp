// Workers whose numbers differ in one bit.
#include <bit>

#include "orrery/error.hpp"
#include "topologies/gossip/wiring.hpp"

namespace orrery {
namespace {

int dimensions(const DataParallelSync& sync, const GossipSize& size) {
  if (!std::has_single_bit(size.workers)) {
    throw InputError("/data_parallel_sync/topology",
                     "found \"" + sync.topology + "\" over " + std::to_string(size.workers) +
                         " workers; allowed are powers of two (\"base-k\" averages exactly over any number)");
  }
  const int count = log2_floor(size.workers);
  check_edge_count(sync, size, static_cast<double>(count) * size.workers);
  return count;
}

}  // namespace

Wiring wire_hypercube(const DataParallelSync& sync, const GossipSize& size) {
  return one_round(bit_round(size.workers, 0, dimensions(sync, size)));
}

Wiring wire_one_peer_hypercube(const DataParallelSync& sync, const GossipSize& size) {
  const int count = dimensions(sync, size);
  Wiring wiring;
  for (int bit = 0; bit < count; ++bit) wiring.rounds.push_back(bit_round(size.workers, bit, bit + 1));
  return wiring;
}

}  // namespace orrery
