// The physical network: GPUs and switches joined by directed links, and the route of each message.
// Built by topologies/, read by the cost and network models. Knows nothing of tasks or models.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/ids.hpp"
#include "orrery/units.hpp"

namespace orrery {

enum class LinkKind : std::uint8_t { nvlink, pcie, nic, fabric, graph };
inline constexpr std::string_view kLinkKindNames[]{"nvlink", "pcie", "nic", "fabric", "graph"};
inline constexpr std::size_t kLinkKindCount = 5;

/// The fastest link there can be, 70 TB/s: products of rates and weights then fit into 64 bits.
inline constexpr std::int64_t kMaxLinkBytesPerS = std::int64_t{1} << 46;

struct Link {
  VertexId from{};
  VertexId to{};
  std::int64_t bytes_per_s = 0;  ///< 1 to kMaxLinkBytesPerS
  Picoseconds latency_ps = 0;    ///< >= 0
  LinkKind kind = LinkKind::graph;
};

class Topology {
 public:
  virtual ~Topology() = default;
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  /// Appends the links from one GPU to another, in order; nothing when they are the same GPU.
  /// Routes are computed, deterministic, and safe to ask for from several threads.
  virtual void route(GpuId from, GpuId to, std::vector<LinkId>& out) const = 0;

  /// Orders in which a ring collective should visit the given GPUs of one node, one ring each; every
  /// ring is a permutation of `members`. Bandwidth is split evenly over the rings.
  [[nodiscard]] virtual std::vector<std::vector<GpuId>> node_rings(const std::vector<GpuId>& members) const {
    return {members};
  }

  [[nodiscard]] virtual std::string vertex_name(VertexId vertex) const = 0;

  [[nodiscard]] std::uint32_t gpus() const { return gpus_; }
  [[nodiscard]] std::uint32_t gpus_per_node() const { return gpus_per_node_; }
  [[nodiscard]] NodeId node_of(GpuId gpu) const { return NodeId{index(gpu) / gpus_per_node_}; }
  [[nodiscard]] std::uint32_t vertices() const { return vertices_; }
  [[nodiscard]] const std::vector<Link>& links() const { return links_; }
  [[nodiscard]] const Link& link(LinkId id) const { return links_[index(id)]; }

 protected:
  Topology() = default;
  std::uint32_t gpus_ = 0;
  std::uint32_t gpus_per_node_ = 1;
  std::uint32_t vertices_ = 0;
  std::vector<Link> links_;
};

}  // namespace orrery
