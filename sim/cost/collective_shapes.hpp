// Finds the shape of a group of GPUs, and the rounds of collectives by shape. Inside sim/cost/ only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "orrery/topology.hpp"
#include "workloads/collectives/collectives.hpp"

namespace orrery {

/// The shape of the group of these ranks (rank r is GPU r): who shares a domain (a
/// node, or the nodes of one NVLink switch; a node below), and in which order a
/// ring visits each node (`Topology::node_rings`). There are as many rings as the node with most of
/// them has; a node with fewer uses its own in turn. On a single node, rings that are the same circle
/// are one.
[[nodiscard]] GroupShape group_shape(const Topology& topology, std::span<const std::uint32_t> members);

/// Rounds by group shape: groups that look alike share them.
class ShapeCache {
 public:
  /// Caches the rounds of one shape.
  class Entry {
   public:
    explicit Entry(GroupShape shape) : shape_(std::move(shape)) {}
    [[nodiscard]] const GroupShape& shape() const { return shape_; }
    /// Rounds of an algorithm that has no obstacle; equal rounds in sequence are one.
    const Rounds& rounds(const CollectiveAlgorithm& algorithm, Collective collective);
    /// Returns the rounds of an all-reduce through servers; nothing may rule it out.
    const Rounds& rounds_through(std::uint32_t servers);

   private:
    struct Known {
      const CollectiveAlgorithm* algorithm;  ///< null: through servers
      Collective collective;
      std::uint32_t servers;
      Rounds rounds;
    };
    GroupShape shape_;
    std::vector<std::unique_ptr<Known>> known_;
  };

  explicit ShapeCache(const Topology& topology) : topology_(topology) {}
  /// The entry of the shape of these ranks. Stays valid.
  Entry& find(std::span<const std::uint32_t> members);
  /// Two members, wherever they are: all that a send-recv needs.
  Entry& pair() { return pair_; }

 private:
  struct Hash {
    std::size_t operator()(const std::vector<std::uint32_t>& key) const;
  };
  template <class Value>
  using ByWords = std::unordered_map<std::vector<std::uint32_t>, Value, Hash>;

  Entry& find_new(std::span<const std::uint32_t> members);

  const Topology& topology_;
  Entry pair_{one_per_node_shape(2)};
  std::unordered_map<std::uint32_t, Entry> one_per_node_;  ///< by number of members
  ByWords<Entry> by_shape_;                                ///< all others
  ByWords<Entry*> by_members_;                             ///< into by_shape_
  std::vector<std::uint32_t> members_key_;                 ///< scratch of find
};

}  // namespace orrery
