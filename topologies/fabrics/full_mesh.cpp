// A cable between every two nodes. Cables are numbered by their upper node, then by the lower one.
#include <algorithm>

#include "topologies/common/checks.hpp"
#include "topologies/fabrics/builders.hpp"
#include "topologies/fabrics/direct_fabric.hpp"

namespace orrery {
namespace {

class FullMesh final : public DirectFabric {
 public:
  explicit FullMesh(const FabricSite& site) : DirectFabric(site) {}

  [[nodiscard]] std::int64_t link_count() const override {
    return saturating_product(port_count(), std::int64_t{site().nodes} - 1);
  }

  void add_links(std::vector<Link>& links) const override {
    for (std::uint32_t upper = 1; upper < site().nodes; ++upper) {
      for (std::uint32_t lower = 0; lower < upper; ++lower) add_cable(links, lower, upper);
    }
  }

  void route(Port from, Port to, std::vector<LinkId>& out) const override {
    const auto [lower, upper] = std::minmax(from.node, to.node);
    out.push_back(cable_link(upper * (upper - 1) / 2 + lower, from.number, from.node < to.node ? 0 : 1));
  }
};

}  // namespace

std::unique_ptr<FabricModel> build_full_mesh_fabric(const FabricSite& site) {
  return std::make_unique<FullMesh>(site);
}

}  // namespace orrery
