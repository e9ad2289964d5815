// The menu of fabrics. A new one is a file with its builder, declared in builders.hpp, and a row here.
#include <array>

#include "topologies/common/topologies.hpp"
#include "topologies/fabrics/builders.hpp"

namespace orrery {

std::span<const FabricEntry> fabrics() {
  static constexpr std::array kEntries{
      FabricEntry{{"switch", "All NICs meet in one switch without contention inside."}, build_switch_fabric},
      FabricEntry{{"ring", "Every node is joined to two neighbours."}, build_ring_fabric},
      FabricEntry{{"grid", "Nodes are joined along the lines of a grid of any dimension."},
                  build_grid_fabric},
      FabricEntry{{"torus", "A grid whose lines are closed to rings."}, build_torus_fabric},
      FabricEntry{{"fat-tree", "Leaf switches under levels of spines, routed by destination (D-mod-k)."},
                  build_fat_tree_fabric},
      FabricEntry{{"rail-optimized", "NIC i of every node meets on rail i; other rails are a hop away."},
                  build_rail_fabric},
      FabricEntry{
          {"dragonfly", "Groups of routers, each router joined to all of its group, each group to all."},
          build_dragonfly_fabric},
      FabricEntry{{"star", "Node 0 is joined to every other node and forwards between them."},
                  build_star_fabric},
      FabricEntry{{"full-mesh", "Every pair of nodes has a link of its own."}, build_full_mesh_fabric},
  };
  return kEntries;
}

}  // namespace orrery
