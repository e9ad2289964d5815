// Builds nodes on a lattice of any dimension, with or without closed lines, for ring, grid and torus.
// Nodes are numbered row by row (the last coordinate runs fastest). Messages correct their first
// coordinate first (dimension-order routing), each the shortest way round, upwards when both are equal.
#pragma once

#include <string>

#include "topologies/fabrics/direct_fabric.hpp"

namespace orrery {

class Lattice final : public DirectFabric {
 public:
  /// The extents' product is the number of nodes.
  Lattice(const FabricSite& site, const std::vector<std::int64_t>& extents, bool closed);

  [[nodiscard]] std::int64_t link_count() const override;
  void add_links(std::vector<Link>& links) const override;
  void route(Port from, Port to, std::vector<LinkId>& out) const override;

 private:
  /// Lines are numbered by their nodes at coordinate 0, in order; cables along each line in order.
  struct Dimension {
    std::uint32_t extent;
    std::uint32_t stride;  ///< from a node to the next one along the line
    std::uint32_t cables;  ///< per line
    bool closed;
    std::uint32_t first_cable;
    [[nodiscard]] std::uint32_t line_of(std::uint32_t node) const {
      return node / (stride * extent) * stride + node % stride;
    }
    [[nodiscard]] std::uint32_t first_node(std::uint32_t line) const {
      return line / stride * stride * extent + line % stride;
    }
  };
  std::vector<Dimension> dimensions_;
  std::int64_t cables_ = 0;
};

/// The extents as written, or where none are, the two factors of the number of nodes closest to each
/// other, the smaller one first. @throws InputError if the extents do not multiply to it.
[[nodiscard]] std::vector<std::int64_t> lattice_extents(const FabricSite& site);

}  // namespace orrery
