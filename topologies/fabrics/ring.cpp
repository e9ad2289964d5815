// Nodes in a ring, each joined to two neighbours.
#include "topologies/fabrics/builders.hpp"
#include "topologies/fabrics/lattice.hpp"

namespace orrery {

std::unique_ptr<FabricModel> build_ring_fabric(const FabricSite& site) {
  return std::make_unique<Lattice>(site, std::vector<std::int64_t>{site.nodes}, true);
}

}  // namespace orrery
