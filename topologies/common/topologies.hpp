// Builds the physical network of a cluster, and lists the kinds to choose from. Used by all code that turns
// an experiment into a simulation; the result is read through Topology alone.
#pragma once

#include <memory>
#include <span>

#include "orrery/cluster.hpp"
#include "orrery/menu.hpp"
#include "orrery/topology.hpp"

namespace orrery {

class NodeWiringModel;
struct NodeSite;
class FabricModel;
struct FabricSite;

/// Describes a way to wire the GPUs of a node. `build` returns null if the GPUs are not joined at all.
struct NodeWiringEntry : MenuEntry {
  std::unique_ptr<NodeWiringModel> (*build)(const NodeSite&);
  bool nvlink = false;  ///< its links are NVLinks
};

/// Describes a way to wire nodes to each other.
struct FabricEntry : MenuEntry {
  std::unique_ptr<FabricModel> (*build)(const FabricSite&);
};

[[nodiscard]] std::span<const NodeWiringEntry> node_wirings();
[[nodiscard]] std::span<const FabricEntry> fabrics();

/// The network of `cluster`: its graph where it has one, else its node wiring and fabric. A part
/// without traffic (the wiring of nodes with one GPU, the fabric of one wired node) is left out and
/// its numbers are not looked at.
///
/// Vertices are numbered GPUs, switches of the nodes, NICs, switches of the fabric. The path from a
/// GPU to its NIC costs nothing and has no link: where every GPU has a NIC of its own, the NIC's links
/// start and end at the GPU; where GPUs share NICs, they start and end at a vertex of the NIC, to
/// which every GPU sharing it counts as joined.
/// @throws InputError with a pointer below /cluster when the parts do not fit together.
[[nodiscard]] std::unique_ptr<Topology> build_topology(const Cluster& cluster);

}  // namespace orrery
