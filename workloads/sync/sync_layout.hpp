// Who takes part in keeping replicas in step: workers (replicas, or the replicas of a node together), the
// edges of the mixing graph as slots and streams, and the communicators behind them.
//
// The edges of a round are coloured: no worker sends or receives twice in one colour. Colour c of a round is
// a pair of slots, and all rounds use the streams of neighbour c.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/content_hash.hpp"
#include "orrery/experiment.hpp"
#include "orrery/gossip_graph.hpp"
#include "orrery/workload.hpp"

namespace orrery {

/// The workers of an experiment, for whom a graph is built.
struct SyncWorkers {
  std::uint32_t workers = 1;
  std::uint32_t replicas_per_worker = 1;  ///< those of a node where a node is a worker
  std::uint32_t workers_per_node = 1;     ///< neighbours in number that share a node
};

/// @throws InputError at /data_parallel_sync/level if nodes do not hold equally many replicas.
[[nodiscard]] SyncWorkers sync_workers(const Experiment& experiment);
/// The same whatever the method: the replicas of a node together, or each replica.
[[nodiscard]] SyncWorkers workers_at(SyncLevel level, const Experiment& experiment);

class SyncLayout {
 public:
  /// `graph` is over the workers of `experiment`; empty where the method has none. Worker w sits where the
  /// graph says: rows are replicas, or nodes, in order.
  /// @throws InputError at /data_parallel_sync/topology if it needs too many communicators.
  SyncLayout(const Experiment& experiment, const GossipGraph& graph);

  struct Edge {
    std::uint32_t from = 0;  ///< workers
    std::uint32_t to = 0;
  };
  struct Round {
    std::uint32_t first_slot = 0;
    std::vector<std::vector<Edge>> colours;
    std::uint32_t in_degree = 0;  ///< the largest
  };

  /// Of all of it.
  [[nodiscard]] ContentHash content() const;

  [[nodiscard]] std::uint32_t slots() const { return slots_; }
  [[nodiscard]] std::uint32_t streams() const { return streams_; }
  [[nodiscard]] const SyncWorkers& workers() const { return workers_; }
  [[nodiscard]] bool by_node() const { return workers_.replicas_per_worker > 1; }
  [[nodiscard]] const Round& round(std::int64_t step) const {
    return rounds_[static_cast<std::size_t>(step) % rounds_.size()];
  }
  [[nodiscard]] const std::vector<Round>& rounds() const { return rounds_; }
  /// The replicas of a worker; only by_node().
  [[nodiscard]] std::uint16_t node_slot() const { return node_slot_; }
  /// One replica of each worker.
  [[nodiscard]] std::uint16_t workers_slot() const { return workers_slot_; }
  /// The replicas that share one copy of what ZeRO shards.
  [[nodiscard]] std::uint16_t sharding_slot() const { return sharding_slot_; }
  /// The replicas that hold the same shard of their copies; only where there are several copies.
  [[nodiscard]] std::uint16_t copies_slot() const { return copies_slot_; }
  [[nodiscard]] static std::uint16_t out_slot(const Round& round, std::size_t colour) {
    return static_cast<std::uint16_t>(round.first_slot + 2 * colour);
  }
  [[nodiscard]] static std::uint16_t in_slot(const Round& round, std::size_t colour) {
    return static_cast<std::uint16_t>(round.first_slot + 2 * colour + 1);
  }

 private:
  void colour(const Mixing& mixing, Round& round) const;
  void number_slots(const Plan& plan);

  SyncWorkers workers_;
  std::vector<Round> rounds_;
  std::uint32_t slots_ = kSlotCount;
  std::uint32_t streams_ = kStreamCount;
  std::uint16_t node_slot_ = 0;
  std::uint16_t workers_slot_ = 0;
  std::uint16_t sharding_slot_ = 0;
  std::uint16_t copies_slot_ = 0;
};

}  // namespace orrery
