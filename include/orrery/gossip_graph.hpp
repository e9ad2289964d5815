// Describes a gossip graph: a logical graph over the replicas of data parallelism, with its mixing weights.
// Built by topologies/gossip/ from a DataParallelSync; read by workloads/ (which ranks send to each other)
// and studies/converge/ (how fast averages spread). It knows no links: any graph runs on any cluster.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace orrery {

/// Holds one mixing matrix W: x_i <- self_i x_i + sum over in-neighbours j of weight_ij x_j (Yuan,
/// "Distributed training for LLM", decentralised SGD). Row i lists the workers from which worker i receives.
struct Mixing {
  std::vector<std::uint32_t> begin;  ///< per worker + 1: range in `from` and `weight`
  std::vector<std::uint32_t> from;   ///< in-neighbours, each once, never the worker itself
  std::vector<double> weight;        ///< of each in-neighbour
  std::vector<double> self;          ///< per worker

  [[nodiscard]] std::uint32_t workers() const { return static_cast<std::uint32_t>(self.size()); }
  [[nodiscard]] std::span<const std::uint32_t> neighbours(std::uint32_t worker) const {
    return {from.data() + begin[worker], from.data() + begin[worker + 1]};
  }
  [[nodiscard]] std::span<const double> weights(std::uint32_t worker) const {
    return {weight.data() + begin[worker], weight.data() + begin[worker + 1]};
  }
};

/// Step k mixes with rounds[k % rounds.size()]; a static graph has one round.
struct GossipGraph {
  std::string topology;
  std::vector<Mixing> rounds;

  [[nodiscard]] bool empty() const { return rounds.empty(); }
  [[nodiscard]] std::uint32_t workers() const { return empty() ? 0 : rounds.front().workers(); }
};

}  // namespace orrery
