// Declares the builders that node_wirings() lists.
#pragma once

#include "topologies/nodes/node_wiring.hpp"

namespace orrery {

using NodeWiringBuilder = std::unique_ptr<NodeWiringModel>(const NodeSite&);

NodeWiringBuilder build_nvswitch_node, build_cube_mesh_node, build_ring_node, build_full_mesh_node,
    build_pcie_node, build_pcie_host_node, build_unwired_node;

}  // namespace orrery
