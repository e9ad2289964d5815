// Adds the links of a switched fabric's first hop: one out of each port and one into it.
#pragma once

#include <cstdint>
#include <vector>

#include "topologies/fabrics/fabric_model.hpp"

namespace orrery {

/// Links of port p (counted over all nodes) are 2p, out, and 2p + 1, in, from the fabric's first one.
[[nodiscard]] inline LinkId nic_out(const FabricSite& site, std::uint32_t port) {
  return LinkId{site.first_link + 2 * port};
}
[[nodiscard]] inline LinkId nic_in(const FabricSite& site, std::uint32_t port) {
  return LinkId{site.first_link + 2 * port + 1};
}

/// Appends the links of all ports; `switch_of(Port)` is the switch that a port is plugged into. The
/// link out bears the latency of that switch.
template <class SwitchOf>
void add_nic_links(const FabricSite& site, std::vector<Link>& links, SwitchOf switch_of) {
  std::uint32_t vertex = site.first_port;
  for (std::uint32_t node = 0; node < site.nodes; ++node) {
    for (std::uint32_t number = 0; number < site.ports; ++number, ++vertex) {
      const VertexId port{vertex};
      const VertexId leaf = switch_of(Port{node, number});
      const std::int64_t rate = site.port_bytes_per_s[number];
      links.push_back({port, leaf, rate, site.latency, LinkKind::nic});
      links.push_back({leaf, port, rate, 0, LinkKind::nic});
    }
  }
}

}  // namespace orrery
