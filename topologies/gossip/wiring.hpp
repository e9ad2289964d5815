// Holds the parts that builders of gossip graphs share: rounds of in-neighbours, written worker by worker.
// Internal to topologies/gossip/.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "topologies/gossip/gossip.hpp"

namespace orrery {

/// Lists the workers that each worker receives from. Without `weighted`, the rounds have no weights yet.
struct Wiring {
  std::vector<Mixing> rounds;
  bool weighted = false;
};

/// A graph that does not change.
[[nodiscard]] Wiring one_round(Mixing round);

/// Writes the rows of a round in the order of the workers.
class RowWriter {
 public:
  explicit RowWriter(std::uint32_t workers) {
    round_.begin.reserve(workers + std::size_t{1});
    round_.begin.push_back(0);
  }
  /// An in-neighbour of the current worker; left out if it is the worker itself or there already.
  void add(std::int64_t neighbour);
  /// Adds a neighbour that is neither, without looking: long rows are not searched.
  void add_new(std::int64_t neighbour) { round_.from.push_back(static_cast<std::uint32_t>(neighbour)); }
  void add_new(std::int64_t neighbour, double weight);
  void end_row() { round_.begin.push_back(static_cast<std::uint32_t>(round_.from.size())); }
  /// Ends the row of a weighted round.
  void end_row(double self);
  [[nodiscard]] Mixing take() { return std::move(round_); }

 private:
  Mixing round_;
};

/// Worker i receives from i - shift (mod n) for every shift, in this order.
[[nodiscard]] Mixing shift_round(std::uint32_t workers, std::span<const std::int64_t> shifts);

/// Worker i receives from i xor 2^bit for every bit of [first, last).
[[nodiscard]] Mixing bit_round(std::uint32_t workers, int first, int last);

/// Largest t with 2^t <= value; value >= 1.
[[nodiscard]] int log2_floor(std::int64_t value);

/// @throws InputError at /data_parallel_sync/topology for more than kMaxGossipEdges.
void check_edge_count(const DataParallelSync& sync, const GossipSize& size, double edges);

Wiring wire_ring(const DataParallelSync& sync, const GossipSize& size);
Wiring wire_one_way_ring(const DataParallelSync& sync, const GossipSize& size);
Wiring wire_grid(const DataParallelSync& sync, const GossipSize& size);
Wiring wire_torus(const DataParallelSync& sync, const GossipSize& size);
Wiring wire_star(const DataParallelSync& sync, const GossipSize& size);
Wiring wire_complete(const DataParallelSync& sync, const GossipSize& size);
Wiring wire_exponential(const DataParallelSync& sync, const GossipSize& size);
Wiring wire_one_peer_exponential(const DataParallelSync& sync, const GossipSize& size);
Wiring wire_symmetric_exponential(const DataParallelSync& sync, const GossipSize& size);
Wiring wire_hypercube(const DataParallelSync& sync, const GossipSize& size);
Wiring wire_one_peer_hypercube(const DataParallelSync& sync, const GossipSize& size);
Wiring wire_random_matching(const DataParallelSync& sync, const GossipSize& size);
Wiring wire_erdos_renyi(const DataParallelSync& sync, const GossipSize& size);
Wiring wire_base_k(const DataParallelSync& sync, const GossipSize& size);
Wiring wire_inner_outer_ring(const DataParallelSync& sync, const GossipSize& size);
Wiring wire_inner_outer_exponential(const DataParallelSync& sync, const GossipSize& size);
/// The explicit graph of `sync.neighbours`.
Wiring wire_neighbour_lists(const DataParallelSync& sync, const GossipSize& size);

}  // namespace orrery
