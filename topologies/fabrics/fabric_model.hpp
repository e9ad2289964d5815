// Declares a fabric as ClusterTopology sees it: the links between the ports of nodes, and the route from port
// to port. A port is a NIC, or the pooled NICs of one GPU; it is named by its node and its number there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "orrery/cluster.hpp"
#include "orrery/topology.hpp"

namespace orrery {

/// Holds the inputs of a fabric. Vertices, links and switches are numbered from the given first ones.
struct FabricSite {
  const Fabric& spec;
  std::uint32_t nodes = 1;
  std::uint32_t ports = 1;                       ///< per node
  bool wired = false;                            ///< GPUs of one node reach each other without the fabric
  std::vector<std::int64_t> port_bytes_per_s{};  ///< of each port of a node
  std::int64_t node_bytes_per_s = 0;             ///< of all ports of a node
  Picoseconds latency = 0;
  std::uint32_t first_port = 0;    ///< vertex of port 0 of node 0; the others follow, node by node
  std::uint32_t first_switch = 0;  ///< vertex
  std::uint32_t first_link = 0;
};

struct Port {
  std::uint32_t node;
  std::uint32_t number;
};

/// Says how a message changes from one port number to another one if the GPUs of a node reach each other.
enum class PortChange : std::uint8_t {
  in_fabric,  ///< the fabric joins all ports
  before,     ///< over the wiring of the sending node, to a GPU at the receiver's port number
  after,      ///< over the wiring of the receiving node, from a GPU at the sender's port number
};

class FabricModel {
 public:
  virtual ~FabricModel() = default;
  FabricModel(const FabricModel&) = delete;
  FabricModel& operator=(const FabricModel&) = delete;

  [[nodiscard]] virtual std::int64_t link_count() const = 0;
  [[nodiscard]] virtual std::int64_t switch_count() const = 0;
  /// Appends link_count() links.
  virtual void add_links(std::vector<Link>& links) const = 0;

  /// Appends the way between two different ports, or out and back of one port. The port numbers are
  /// equal unless port_change() is in_fabric.
  virtual void route(Port from, Port to, std::vector<LinkId>& out) const = 0;

  [[nodiscard]] virtual PortChange port_change() const { return PortChange::in_fabric; }
  [[nodiscard]] virtual std::string switch_name(std::uint32_t) const { return {}; }

 protected:
  explicit FabricModel(FabricSite site) : site_(std::move(site)) {}

  [[nodiscard]] const FabricSite& site() const { return site_; }
  [[nodiscard]] std::uint32_t port_index(Port port) const { return port.node * site_.ports + port.number; }
  [[nodiscard]] VertexId port_vertex(Port port) const {
    return VertexId{site_.first_port + port_index(port)};
  }
  [[nodiscard]] std::int64_t port_count() const { return std::int64_t{site_.nodes} * site_.ports; }

 private:
  FabricSite site_;
};

}  // namespace orrery
