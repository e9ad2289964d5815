#include "topologies/fabrics/lattice.hpp"

#include "orrery/error.hpp"
#include "topologies/common/checks.hpp"
#include "topologies/common/ring_walk.hpp"

namespace orrery {

Lattice::Lattice(const FabricSite& site, const std::vector<std::int64_t>& extents, bool closed)
    : DirectFabric(site) {
  std::uint32_t stride = site.nodes;
  for (const std::int64_t wide : extents) {
    const auto extent = static_cast<std::uint32_t>(wide);
    stride /= extent;
    const bool ring = closes(extent, closed);
    const std::uint32_t cables = cable_count(extent, ring);
    dimensions_.push_back({extent, stride, cables, ring, static_cast<std::uint32_t>(cables_)});
    cables_ += std::int64_t{site.nodes / extent} * cables;
  }
}

std::int64_t Lattice::link_count() const {
  return saturating_product(cables_, std::int64_t{2} * site().ports);
}

void Lattice::add_links(std::vector<Link>& links) const {
  for (const Dimension& dimension : dimensions_) {
    for (std::uint32_t line = 0; line < site().nodes / dimension.extent; ++line) {
      const std::uint32_t first = dimension.first_node(line);
      for (std::uint32_t lower = 0; lower < dimension.cables; ++lower) {
        const std::uint32_t upper = (lower + 1) % dimension.extent;
        add_cable(links, first + lower * dimension.stride, first + upper * dimension.stride);
      }
    }
  }
}

void Lattice::route(Port from, Port to, std::vector<LinkId>& out) const {
  std::uint32_t at = from.node;
  for (const Dimension& dimension : dimensions_) {
    const std::uint32_t here = at / dimension.stride % dimension.extent;
    const std::uint32_t there = to.node / dimension.stride % dimension.extent;
    if (here == there) continue;
    const std::uint32_t first = dimension.first_cable + dimension.line_of(at) * dimension.cables;
    walk(here, there, dimension.extent, dimension.closed, [&](std::uint32_t cable, std::uint32_t direction) {
      out.push_back(cable_link(first + cable, from.number, direction));
    });
    at += (there - here) * dimension.stride;
  }
}

std::vector<std::int64_t> lattice_extents(const FabricSite& site) {
  const std::int64_t nodes = site.nodes;
  if (site.spec.shape.empty()) {
    std::int64_t small = 1;
    for (std::int64_t factor = 1; factor * factor <= nodes; ++factor) {
      if (nodes % factor == 0) small = factor;
    }
    return {small, nodes / small};
  }
  std::int64_t product = 1;
  for (const std::int64_t extent : site.spec.shape) {
    check_range("/cluster/fabric/shape", extent, 1, nodes);
    product = saturating_product(product, extent);
  }
  if (product != nodes) {
    throw InputError("/cluster/fabric/shape", "the extents multiply to " + std::to_string(product) +
                                                  "; the cluster has " + std::to_string(nodes) + " nodes");
  }
  return site.spec.shape;
}

}  // namespace orrery
