// Describes the workers that are synchronised (replicas, or the replicas of a node together), and the
// communicators of an experiment, including those along the edges of its mixing graph.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/gossip_graph.hpp"
#include "orrery/workload.hpp"
#include "workloads/communicators/communicators.hpp"

namespace orrery {

/// Describes the workers of an experiment, between which a gossip graph is built.
struct SyncWorkers {
  std::uint32_t workers = 1;
  std::uint32_t replicas_per_worker = 1;  ///< those of a node where a node is a worker
  std::uint32_t workers_per_node = 1;     ///< neighbours in number that share a node
};

/// @throws InputError at /data_parallel_sync/level if nodes do not hold equally many replicas.
[[nodiscard]] SyncWorkers sync_workers(const Experiment& experiment);
/// Returns the workers of a level, which do not depend on the method: the replicas of a node together, or
/// each replica.
[[nodiscard]] SyncWorkers workers_at(SyncLevel level, const Experiment& experiment);

class CommunicatorLayout {
 public:
  /// `graph` is over the workers of `experiment`; empty where the method has none. Worker w sits where the
  /// graph says: rows are replicas, or nodes, in order.
  /// @throws InputError at /data_parallel_sync/topology if it needs too many communicators.
  CommunicatorLayout(const Experiment& experiment, const GossipGraph& graph);

  using Round = GossipRound;

  [[nodiscard]] const CommunicatorSpec& spec() const { return spec_; }
  [[nodiscard]] std::uint32_t slots() const { return numbers_.count(); }
  /// Slots before those whose groups join some replicas with others.
  [[nodiscard]] std::uint32_t common_slots() const { return numbers_.common(); }
  [[nodiscard]] std::uint32_t streams() const { return streams_; }
  /// The number of a slot that the experiment has.
  [[nodiscard]] std::uint16_t slot(Slot slot) const { return numbers_[slot]; }
  [[nodiscard]] const SyncWorkers& workers() const { return workers_; }
  [[nodiscard]] bool joins_replicas() const { return workers_.replicas_per_worker > 1; }
  [[nodiscard]] const Round& round(std::int64_t step) const {
    return spec_.rounds[static_cast<std::size_t>(step) % spec_.rounds.size()];
  }
  [[nodiscard]] const std::vector<Round>& rounds() const { return spec_.rounds; }
  /// Returns true if the replicas of a worker shard its model, so that each exchanges its shard with the
  /// replicas that hold the same shard of other workers.
  [[nodiscard]] bool shards_in_worker() const { return spec_.exchanging_replicas > 1; }
  /// The replicas of a worker; only joins_replicas().
  [[nodiscard]] std::uint16_t node_slot() const { return slot(Slot::node); }
  /// Returns the slot of one replica of each worker, or of the replicas that hold the same shard of its
  /// model.
  [[nodiscard]] std::uint16_t workers_slot() const {
    if (shards_in_worker()) return copies_slot();
    return slot(joins_replicas() ? Slot::workers : Slot::data);
  }
  /// Returns the slot of the replicas that share one sharded copy under ZeRO.
  [[nodiscard]] std::uint16_t sharding_slot() const {
    return slot(numbers_.has(Slot::sharding) ? Slot::sharding : Slot::data);
  }
  /// The replicas that hold the same shard of their copies; only where there are several copies.
  [[nodiscard]] std::uint16_t copies_slot() const { return slot(Slot::copies); }
  [[nodiscard]] static std::uint16_t out_slot(const Round& round, std::size_t colour) {
    return static_cast<std::uint16_t>(round.first_slot + 2 * colour);
  }
  [[nodiscard]] static std::uint16_t in_slot(const Round& round, std::size_t colour) {
    return static_cast<std::uint16_t>(round.first_slot + 2 * colour + 1);
  }

 private:
  void colour(const Mixing& mixing, Round& round) const;
  void number_rounds();

  SyncWorkers workers_;
  CommunicatorSpec spec_;
  SlotNumbers numbers_;
  std::uint32_t streams_ = kStreamCount;
};

/// Returns true if the level of detail asks for fused passes and tensor groups neither share links with other
/// groups nor have ranks that differ.
[[nodiscard]] bool has_fused_passes(const Experiment& experiment);

}  // namespace orrery
