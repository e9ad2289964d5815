// Declares the physical network: GPUs and switches joined by directed links, and the route of each message.
// Built by topologies/, read by the cost and network models. Knows nothing of tasks or models.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/ids.hpp"
#include "orrery/units.hpp"

namespace orrery {

enum class LinkKind : std::uint8_t { nvlink, pcie, nic, fabric, graph, wan };
inline constexpr std::string_view kLinkKindNames[]{"nvlink", "pcie", "nic", "fabric", "graph", "wan"};
inline constexpr std::size_t kLinkKindCount = 6;

/// The fastest link there can be, 70 TB/s: products of rates and weights then fit into 64 bits.
inline constexpr std::int64_t kMaxLinkBytesPerS = std::int64_t{1} << 46;

struct Link {
  VertexId from{};
  VertexId to{};
  std::int64_t bytes_per_s = 0;  ///< 1 to kMaxLinkBytesPerS
  Picoseconds latency_ps = 0;    ///< >= 0
  LinkKind kind = LinkKind::graph;
};

/// Describes the time of a collective beyond the latency of its hops and the time of its data on the links;
/// nothing by default.
struct CollectiveOverhead {
  Picoseconds base_ps = 0;        ///< once per collective
  Picoseconds ramp_ps = 0;        ///< most that small messages lose by moving more slowly
  std::int64_t slowdown_ppm = 0;  ///< their slowdown, in millionths of the time of their data

  [[nodiscard]] constexpr Picoseconds of(Picoseconds data_ps) const {
    if (slowdown_ppm == 0) return base_ps;
    constexpr std::int64_t kMillion = 1'000'000;
    const Int128 lost = static_cast<Int128>(data_ps) * slowdown_ppm;
    if (lost >= static_cast<Int128>(ramp_ps) * kMillion) return base_ps + ramp_ps;
    return base_ps + static_cast<Picoseconds>(divide_rounded(lost, kMillion));
  }
};

class Topology {
 public:
  virtual ~Topology() = default;
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  /// Appends the links from one GPU to another, in order and none twice; nothing when they are the same GPU.
  /// Routes are computed, deterministic, and safe to ask for from several threads.
  virtual void route(GpuId from, GpuId to, std::vector<LinkId>& out) const = 0;

  /// Orders in which a ring collective should visit the given GPUs of one domain, one ring each; every
  /// ring is a permutation of `members`. Bandwidth is split evenly over the rings.
  [[nodiscard]] virtual std::vector<std::vector<GpuId>> node_rings(const std::vector<GpuId>& members) const {
    return {members};
  }

  [[nodiscard]] virtual std::string vertex_name(VertexId vertex) const = 0;

  [[nodiscard]] std::uint32_t gpus() const { return gpus_; }
  [[nodiscard]] std::uint32_t gpus_per_node() const { return gpus_per_node_; }
  [[nodiscard]] NodeId node_of(GpuId gpu) const { return NodeId{index(gpu) / gpus_per_node_}; }
  /// GPUs that reach each other without the fabric: those of a node, or of all nodes that share one NVLink
  /// switch. The last domain may have fewer.
  [[nodiscard]] std::uint32_t gpus_per_domain() const { return gpus_per_node_ * nodes_per_domain_; }
  [[nodiscard]] DomainId domain_of(GpuId gpu) const { return DomainId{index(gpu) / gpus_per_domain()}; }
  [[nodiscard]] std::uint32_t vertices() const { return vertices_; }
  [[nodiscard]] const std::vector<Link>& links() const { return links_; }
  [[nodiscard]] const Link& link(LinkId id) const { return links_[index(id)]; }
  [[nodiscard]] const CollectiveOverhead& overhead(bool inside_domain) const {
    return inside_domain ? node_overhead_ : fabric_overhead_;
  }
  /// Domains are copies of one another (the last one may lack GPUs and their links), and domain n has the
  /// links [n * k, (n + 1) * k), which messages within it cross and no others; 0 where it is not so.
  [[nodiscard]] std::uint32_t links_per_domain() const { return domain_links_; }
  /// Pace at which each GPU sends and receives while the switch of its domain reduces and copies
  /// (NVLink SHARP), in bytes/s; 0 where no switch does.
  [[nodiscard]] std::int64_t reduction_bytes_per_s() const { return reduction_bytes_per_s_; }
  /// Returns the time of a round trip to that switch; 0: as any message.
  [[nodiscard]] Picoseconds reduction_latency_ps() const { return reduction_latency_ps_; }
  /// Returns the highest rate of one message from a domain to another one, in bytes/s.
  [[nodiscard]] std::int64_t flow_bytes_per_s() const { return flow_bytes_per_s_; }
  /// Returns the most that the kernels of a GPU send, and receive, in a group over several domains, over the
  /// links of its node and NICs together: the bandwidth of all of its links in the node.
  [[nodiscard]] std::int64_t gpu_bytes_per_s() const { return gpu_bytes_per_s_; }
  /// Returns the most that a GPU sends to other domains, and receives from them, over its link to the NICs of
  /// its node.
  [[nodiscard]] std::int64_t way_out_bytes_per_s() const { return way_out_bytes_per_s_; }
  /// Returns, if NICs cannot read the memory of GPUs, the rate of a NIC for groups with several GPUs of a
  /// domain, which leave it by a GPU below the NIC's own PCIe switch. Each of their bytes crosses that
  /// switch's link to the host twice, on its way to the host's memory and from there to the NIC.
  [[nodiscard]] std::int64_t staged_bytes_per_s() const { return staged_bytes_per_s_; }
  [[nodiscard]] bool stages_messages() const { return staged_bytes_per_s_ < kMaxLinkBytesPerS; }

 protected:
  Topology() = default;
  std::uint32_t gpus_ = 0;
  std::uint32_t gpus_per_node_ = 1;
  std::uint32_t nodes_per_domain_ = 1;
  std::uint32_t vertices_ = 0;
  std::uint32_t domain_links_ = 0;
  std::vector<Link> links_;
  CollectiveOverhead node_overhead_;
  CollectiveOverhead fabric_overhead_;
  std::int64_t reduction_bytes_per_s_ = 0;
  Picoseconds reduction_latency_ps_ = 0;
  std::int64_t flow_bytes_per_s_ = kMaxLinkBytesPerS;
  std::int64_t gpu_bytes_per_s_ = kMaxLinkBytesPerS;
  std::int64_t way_out_bytes_per_s_ = kMaxLinkBytesPerS;
  std::int64_t staged_bytes_per_s_ = kMaxLinkBytesPerS;
};

}  // namespace orrery
