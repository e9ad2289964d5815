// One worker that all others know, and all that know all.
#include "topologies/gossip/wiring.hpp"

namespace orrery {

Wiring wire_star(const DataParallelSync& sync, const GossipSize& size) {
  check_edge_count(sync, size, 2.0 * size.workers);
  RowWriter rows(size.workers);
  for (std::int64_t leaf = 1; leaf < size.workers; ++leaf) rows.add_new(leaf);
  rows.end_row();
  for (std::int64_t leaf = 1; leaf < size.workers; ++leaf) {
    rows.add_new(0);
    rows.end_row();
  }
  return one_round(rows.take());
}

Wiring wire_complete(const DataParallelSync& sync, const GossipSize& size) {
  const std::int64_t n = size.workers;
  check_edge_count(sync, size, static_cast<double>(n) * static_cast<double>(n - 1));
  RowWriter rows(size.workers);
  for (std::int64_t worker = 0; worker < n; ++worker) {
    for (std::int64_t shift = 1; shift < n; ++shift) rows.add_new((worker - shift + n) % n);
    rows.end_row();
  }
  return one_round(rows.take());
}

}  // namespace orrery
