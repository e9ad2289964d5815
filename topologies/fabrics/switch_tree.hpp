// Builds leaf switches under levels of further switches, for fat tree and rail-optimised fabric: an
// extended generalised fat tree (Öhring et al. 1995) with D-mod-k routing (Zahavi et al. 2010): the
// way up is chosen by the destination alone, so that each destination has a tree of its own, and
// shifts do not collide on a tree that is not oversubscribed.
//
// Destinations are slots, numbered leaf by leaf. The switches of a level fall into groups above the
// same slots; at level l a group has as many switches as there are ways up to it, and messages to
// slot d climb through number d mod that of each group they pass. With adaptive routing the switches of
// a group act as one, joined by one link of all their capacity: a fat tree as Leiserson (1985) drew it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topologies/fabrics/fabric_model.hpp"

namespace orrery {

/// Holds the inputs of a SwitchTree.
struct SwitchTreePlan {
  std::int64_t slots = 0;
  /// Slots per leaf, then lower groups per group for each level above; the tree ends where one group
  /// spans all slots, or with the last number.
  std::vector<std::int64_t> children;
  /// Downward capacity of a full leaf. Upward capacity is this over the oversubscription, in links no wider
  /// than the ones below; above the leaves every switch has as much capacity upwards as downwards.
  double leaf_bytes_per_s = 0;
  double oversubscription = 1;
  bool adaptive_routing = false;  ///< links upwards act as one, of the sum of their rates
};

class SwitchTree {
 public:
  /// `first_link` is the first of the links between switches.
  /// @throws InputError when the tree is too large or a link too thin.
  SwitchTree(const SwitchTreePlan& plan, const FabricSite& site, std::int64_t first_link);

  [[nodiscard]] std::int64_t link_count() const { return link_count_; }
  [[nodiscard]] std::int64_t switch_count() const { return switch_count_; }
  [[nodiscard]] VertexId leaf(std::uint32_t slot) const {
    return VertexId{levels_.front().first_switch + slot / levels_.front().span};
  }
  void add_links(std::vector<Link>& links) const;

  /// Appends the links between the leaves of two slots, which one group of the tree spans.
  void route(std::uint32_t from, std::uint32_t to, std::vector<LinkId>& out) const;

  /// "leaf3", "spine3", "core3", "level4-3"; numbered over the level.
  [[nodiscard]] std::string switch_name(std::uint32_t number) const;

 private:
  struct Level {
    std::uint32_t span;  ///< slots below a group
    std::uint32_t groups;
    std::uint32_t switches;      ///< per group
    std::uint32_t first_switch;  ///< vertex
    /// Links to the level above: one per group here and switch of a group there; zero at the top.
    std::uint32_t up_links;  ///< per group
    std::uint32_t first_link;
    std::int64_t up_bytes_per_s;
  };

  void plan_levels(const SwitchTreePlan& plan);
  void number(const FabricSite& site, std::int64_t first_link);

  std::vector<Level> levels_;
  std::int64_t link_count_ = 0;
  std::int64_t switch_count_ = 0;
  Picoseconds latency_ = 0;
};

}  // namespace orrery
