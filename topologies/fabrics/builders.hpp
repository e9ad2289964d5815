// Declares the builders that fabrics() lists.
#pragma once

#include "topologies/fabrics/fabric_model.hpp"

namespace orrery {

using FabricBuilder = std::unique_ptr<FabricModel>(const FabricSite&);

FabricBuilder build_switch_fabric, build_ring_fabric, build_grid_fabric, build_torus_fabric,
    build_fat_tree_fabric, build_rail_fabric, build_dragonfly_fabric, build_star_fabric,
    build_full_mesh_fabric;

}  // namespace orrery
