// Workers on a lattice of any dimension, numbered row by row (the last coordinate runs fastest). Neighbours
// are listed by dimension, the lower one first.
#include "orrery/error.hpp"
#include "topologies/gossip/wiring.hpp"

namespace orrery {
namespace {

/// The two factors of n closest to each other, the smaller one first.
std::vector<std::int64_t> closest_factors(std::int64_t n) {
  std::int64_t smaller = 1;
  for (std::int64_t factor = 1; factor * factor <= n; ++factor) {
    if (n % factor == 0) smaller = factor;
  }
  return {smaller, n / smaller};
}

std::vector<std::int64_t> extents_of(const DataParallelSync& sync, const GossipSize& size) {
  if (sync.shape.empty()) return closest_factors(size.workers);
  std::string text;
  std::int64_t product = 1;
  for (const std::int64_t extent : sync.shape) {
    text += (text.empty() ? "" : " x ") + std::to_string(extent);
    const bool fits = extent >= 1 && product <= size.workers / extent;
    product = fits ? product * extent : size.workers + std::int64_t{1};
    if (!fits) break;
  }
  if (product == size.workers) return sync.shape;
  throw InputError("/data_parallel_sync/shape",
                   "found " + text + "; allowed are extents whose product is the number of workers, " +
                       std::to_string(size.workers));
}

void add_neighbours(RowWriter& rows, std::int64_t worker, std::int64_t stride, std::int64_t extent,
                    bool closed) {
  const std::int64_t at = worker / stride % extent;
  if (at > 0 || closed) rows.add(worker + (at > 0 ? -stride : (extent - 1) * stride));
  if (at < extent - 1 || closed) rows.add(worker + (at < extent - 1 ? stride : -(extent - 1) * stride));
}

Wiring wire_lattice(const DataParallelSync& sync, const GossipSize& size, bool closed) {
  const std::vector<std::int64_t> extents = extents_of(sync, size);
  check_edge_count(sync, size, 2.0 * static_cast<double>(extents.size()) * size.workers);
  RowWriter rows(size.workers);
  for (std::int64_t worker = 0; worker < size.workers; ++worker) {
    std::int64_t stride = size.workers;
    for (const std::int64_t extent : extents) {
      stride /= extent;
      add_neighbours(rows, worker, stride, extent, closed);
    }
    rows.end_row();
  }
  return one_round(rows.take());
}

}  // namespace

Wiring wire_grid(const DataParallelSync& sync, const GossipSize& size) {
  return wire_lattice(sync, size, false);
}

Wiring wire_torus(const DataParallelSync& sync, const GossipSize& size) {
  return wire_lattice(sync, size, true);
}

}  // namespace orrery
