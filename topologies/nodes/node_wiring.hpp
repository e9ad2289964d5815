// Declares a node wiring as ClusterTopology sees it: the links of one node (or of the nodes of one NVLink
// domain), and the route between two of its GPUs, which are named by their index within it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "orrery/cluster.hpp"
#include "orrery/topology.hpp"
#include "topologies/common/checks.hpp"

namespace orrery {

/// Holds the inputs of a node wiring.
struct NodeSite {
  const NodeWiring& spec;
  std::uint32_t gpus;   ///< per node, or per domain of several nodes
  std::uint32_t nodes;  ///< copies that will be made

  /// Rate of `links` parallel links. @throws InputError if it is not positive.
  [[nodiscard]] std::int64_t rate(int links = 1) const {
    return link_rate(links * spec.link_gb_per_s * 1e9, spec.efficiency, "/cluster/node", "link_gb_per_s");
  }
  [[nodiscard]] Picoseconds latency() const {
    return link_latency(spec.latency_us, "/cluster/node/latency_us");
  }
};

class NodeWiringModel {
 public:
  virtual ~NodeWiringModel() = default;
  NodeWiringModel(const NodeWiringModel&) = delete;
  NodeWiringModel& operator=(const NodeWiringModel&) = delete;

  /// Links of one node; vertex i < gpus is the i-th GPU, the switches follow.
  [[nodiscard]] const std::vector<Link>& links() const { return links_; }
  [[nodiscard]] std::uint32_t switches() const { return switches_; }
  /// Returns the value of Topology::reduction_bytes_per_s().
  [[nodiscard]] std::int64_t reduction_bytes_per_s() const { return reduction_bytes_per_s_; }
  /// Returns the value of Topology::reduction_latency_ps().
  [[nodiscard]] Picoseconds reduction_latency_ps() const { return reduction_latency_ps_; }

  /// Appends the way from one GPU to another one of a node whose links start at `first_link`.
  virtual void route(std::uint32_t from, std::uint32_t to, std::uint32_t first_link,
                     std::vector<LinkId>& out) const = 0;

  /// Closed tours of `members` that, run side by side with equal shares, use the links best.
  /// At least one; where a tour is cut open is of no matter.
  [[nodiscard]] virtual std::vector<std::vector<std::uint32_t>> tours(
      const std::vector<std::uint32_t>& members) const {
    return {members};
  }

  /// Name within the node.
  [[nodiscard]] virtual std::string switch_name(std::uint32_t number) const = 0;

 protected:
  /// @throws InputError if the links of all nodes are too many.
  NodeWiringModel(const NodeSite& site, std::int64_t links, std::uint32_t switches) : switches_(switches) {
    check_link_count(links, "/cluster/gpus_per_node");
    check_link_count(saturating_product(links, site.nodes));
    links_.reserve(static_cast<std::size_t>(links));
  }

  void add_link(std::uint32_t from, std::uint32_t to, std::int64_t bytes_per_s, Picoseconds latency,
                LinkKind kind) {
    links_.push_back({VertexId{from}, VertexId{to}, bytes_per_s, latency, kind});
  }

  void reduce_in_switch(std::int64_t bytes_per_s, Picoseconds latency_ps) {
    reduction_bytes_per_s_ = bytes_per_s;
    reduction_latency_ps_ = latency_ps;
  }

  static void append(std::vector<LinkId>& out, std::uint32_t first_link, std::uint32_t link) {
    out.push_back(LinkId{first_link + link});
  }

 private:
  std::uint32_t switches_;
  std::int64_t reduction_bytes_per_s_ = 0;
  Picoseconds reduction_latency_ps_ = 0;
  std::vector<Link> links_;
};

}  // namespace orrery
