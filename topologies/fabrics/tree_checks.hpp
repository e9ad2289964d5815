// Reads the shape of fabrics that are trees of switches.
#pragma once

#include <algorithm>
#include <cstdint>

#include "topologies/common/checks.hpp"
#include "topologies/fabrics/fabric_model.hpp"

namespace orrery {

/// Nodes per leaf where the shape does not say.
inline constexpr std::int64_t kDefaultLeafNodes = 32;

/// @throws InputError for an extent that is no number of children.
inline void check_tree_shape(const Fabric& spec) {
  for (const std::int64_t children : spec.shape) {
    check_range("/cluster/fabric/shape", children, 1, kMaxCount);
  }
}

/// Nodes below a leaf.
[[nodiscard]] inline std::int64_t leaf_nodes(const FabricSite& site) {
  if (!site.spec.shape.empty()) return site.spec.shape.front();
  return std::min<std::int64_t>(site.nodes, kDefaultLeafNodes);
}

}  // namespace orrery
