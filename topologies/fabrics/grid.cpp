// Nodes on an open grid.
#include "topologies/fabrics/builders.hpp"
#include "topologies/fabrics/lattice.hpp"

namespace orrery {

std::unique_ptr<FabricModel> build_grid_fabric(const FabricSite& site) {
  return std::make_unique<Lattice>(site, lattice_extents(site), false);
}

}  // namespace orrery
