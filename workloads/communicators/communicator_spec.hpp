// Holds all inputs of an experiment's communicators: equal specs have equal communicators.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/rank_grid.hpp"
#include "orrery/workload.hpp"

namespace orrery {

/// A round of a mixing graph over the workers. Its edges are coloured: no worker sends or receives twice in
/// one colour. Colour c is a pair of slots, and all rounds use the streams of neighbour c.
struct GossipRound {
  struct Edge {
    std::uint32_t from = 0;  ///< workers
    std::uint32_t to = 0;

    template <class Visit>
    auto members(const Visit& visit) const {
      return visit(from, to);
    }
    friend bool operator==(const Edge&, const Edge&) = default;
  };
  std::uint32_t first_slot = 0;
  std::vector<std::vector<Edge>> colours;
  std::uint32_t in_degree = 0;  ///< the largest

  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(first_slot, colours, in_degree);
  }
  friend bool operator==(const GossipRound&, const GossipRound&) = default;
};

struct CommunicatorSpec {
  explicit CommunicatorSpec(const Plan& plan) : grid(plan), experts(plan) {}

  RankGrid grid;
  /// Describes how experts are spread over ranks, if the model has any.
  struct Experts {
    explicit Experts(const Plan& plan) : grid(RankGrid::of_experts(plan)) {}

    RankGrid grid;
    bool present = false;
    std::int64_t ranks_in_node = 0;  ///< of the ranks that share the experts; 0: not needed

    template <class Visit>
    auto members(const Visit& visit) const {
      return visit(grid, present, ranks_in_node);
    }
    friend bool operator==(const Experts&, const Experts&) = default;
  };
  Experts experts;
  std::int64_t context_inner = 0;        ///< Plan::hierarchical_context_parallel_size
  bool tensor_passes = false;            ///< passes are done by tensor groups, though of a single rank
  bool pipeline_wraps = false;           ///< the last pipeline rank sends to the first as well
  bool pipeline_reverses = false;        ///< ranks hold chunks against their order as well
  bool mirrored = false;                 ///< rank p - 1 - r of a pipeline has the weights of rank r
  std::vector<std::int64_t> tied;        ///< pipeline ranks that add up the gradients of one embedding
  std::int64_t replicas_per_worker = 1;  ///< those of a node where a node is a worker
  std::int64_t exchanging_replicas = 1;  ///< of a worker: one for all, or each with its shard
  std::int64_t sharding_ranks = 0;       ///< that share one of several sharded copies under ZeRO; 0: one copy
  std::vector<GossipRound> rounds;
  std::vector<std::uint32_t> class_of_replica;  ///< BatchClasses::of_replica

  /// Visits all members in order, for keys of caches.
  template <class Visit>
  auto members(const Visit& visit) const {
    return visit(grid, experts, context_inner, tensor_passes, pipeline_wraps, pipeline_reverses, mirrored,
                 tied, replicas_per_worker, exchanging_replicas, sharding_ranks, rounds, class_of_replica);
  }
  friend bool operator==(const CommunicatorSpec&, const CommunicatorSpec&) = default;
};

}  // namespace orrery
