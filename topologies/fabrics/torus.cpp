// Nodes on a grid with closed lines (TPU pods). An extent of two is one cable, not two.
#include "topologies/fabrics/builders.hpp"
#include "topologies/fabrics/lattice.hpp"

namespace orrery {

std::unique_ptr<FabricModel> build_torus_fabric(const FabricSite& site) {
  return std::make_unique<Lattice>(site, lattice_extents(site), true);
}

}  // namespace orrery
