// Declares index types of the things a simulation is made of. Used everywhere; they know nothing. They are
// distinct types at interfaces, so that a link is never taken for a GPU; hot arrays store the bare 32-bit
// value.
#pragma once

#include <cstddef>
#include <cstdint>

namespace orrery {

/// A GPU of the cluster. Ranks are placed on GPUs in order, so rank r runs on GpuId r.
enum class GpuId : std::uint32_t {};
/// A node (server) of the cluster; holds `gpus_per_node` consecutive GPUs.
enum class NodeId : std::uint32_t {};
/// Nodes side by side whose GPUs share one NVLink switch; most clusters have one node a domain.
enum class DomainId : std::uint32_t {};
/// A vertex of the physical topology: GPUs come first (vertex i is GPU i), then switches.
enum class VertexId : std::uint32_t {};
/// A directed link of the physical topology.
enum class LinkId : std::uint32_t {};
/// A task of a TaskGraph.
enum class TaskId : std::uint32_t {};
/// An entry of a TaskGraph's cost table.
enum class CostId : std::uint32_t {};

template <class Id>
constexpr std::uint32_t index(Id id) {
  return static_cast<std::uint32_t>(id);
}

}  // namespace orrery
