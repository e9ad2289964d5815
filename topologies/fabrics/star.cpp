// Builds a star: node 0 in the middle is joined to every other node; messages between two others cross the
// links (and the NICs) of node 0. Cable i joins node 0 and node i + 1; up is away from node 0.
#include "topologies/fabrics/builders.hpp"
#include "topologies/fabrics/direct_fabric.hpp"

namespace orrery {
namespace {

class Star final : public DirectFabric {
 public:
  explicit Star(const FabricSite& site) : DirectFabric(site) {}

  [[nodiscard]] std::int64_t link_count() const override { return 2 * (port_count() - site().ports); }

  void add_links(std::vector<Link>& links) const override {
    for (std::uint32_t node = 1; node < site().nodes; ++node) add_cable(links, 0, node);
  }

  void route(Port from, Port to, std::vector<LinkId>& out) const override {
    if (from.node != 0) out.push_back(cable_link(from.node - 1, from.number, 1));
    if (to.node != 0) out.push_back(cable_link(to.node - 1, from.number, 0));
  }
};

}  // namespace

std::unique_ptr<FabricModel> build_star_fabric(const FabricSite& site) {
  return std::make_unique<Star>(site);
}

}  // namespace orrery
