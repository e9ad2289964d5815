#include "topologies/fabrics/direct_fabric.hpp"

#include "orrery/error.hpp"

namespace orrery {

DirectFabric::DirectFabric(const FabricSite& site) : FabricModel(site) {
  if (site.wired) return;
  throw InputError("/cluster/node/kind", "found \"none\"; with several GPUs per node, the fabric \"" +
                                             site.spec.kind +
                                             "\" needs a node wiring, as it joins nodes only");
}

void DirectFabric::add_cable(std::vector<Link>& links, std::uint32_t lower, std::uint32_t upper) const {
  for (std::uint32_t plane = 0; plane < site().ports; ++plane) {
    const VertexId a = port_vertex({lower, plane});
    const VertexId b = port_vertex({upper, plane});
    const std::int64_t rate = site().port_bytes_per_s[plane];
    links.push_back({a, b, rate, site().latency, LinkKind::nic});
    links.push_back({b, a, rate, site().latency, LinkKind::nic});
  }
}

}  // namespace orrery
