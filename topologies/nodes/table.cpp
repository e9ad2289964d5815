// The menu of node wirings. A new one is a file with its builder, declared in builders.hpp, and a row.
#include <array>

#include "topologies/common/topologies.hpp"
#include "topologies/nodes/builders.hpp"

namespace orrery {

std::span<const NodeWiringEntry> node_wirings() {
  static constexpr std::array kEntries{
      NodeWiringEntry{{"nvswitch", "Every GPU reaches every other one of its node through one crossbar."},
                      build_nvswitch_node,
                      true},
      NodeWiringEntry{{"hybrid-cube-mesh", "The eight GPUs of a DGX-1, joined by one or two NVLinks."},
                      build_cube_mesh_node,
                      true},
      NodeWiringEntry{{"ring", "Every GPU is joined to two neighbours."}, build_ring_node},
      NodeWiringEntry{{"full-mesh", "Every pair of GPUs has a link of its own."}, build_full_mesh_node},
      NodeWiringEntry{{"pcie", "Pairs of GPUs share a PCIe switch, the switches share a root complex."},
                      build_pcie_node},
      NodeWiringEntry{{"pcie-host", "Messages are staged in the memory of the host, over PCIe."},
                      build_pcie_host_node},
      NodeWiringEntry{{"none", "The GPUs of a node meet only in the fabric."}, build_unwired_node},
  };
  return kEntries;
}

}  // namespace orrery
