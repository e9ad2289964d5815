// One switch with a port for every NIC.
#include "topologies/fabrics/builders.hpp"
#include "topologies/fabrics/nic_links.hpp"

namespace orrery {
namespace {

class SingleSwitch final : public FabricModel {
 public:
  explicit SingleSwitch(const FabricSite& site) : FabricModel(site) {}

  [[nodiscard]] std::int64_t link_count() const override { return 2 * port_count(); }
  [[nodiscard]] std::int64_t switch_count() const override { return 1; }

  void add_links(std::vector<Link>& links) const override {
    add_nic_links(site(), links, [this](Port) { return VertexId{site().first_switch}; });
  }

  void route(Port from, Port to, std::vector<LinkId>& out) const override {
    out.push_back(nic_out(site(), port_index(from)));
    out.push_back(nic_in(site(), port_index(to)));
  }

  [[nodiscard]] std::string switch_name(std::uint32_t) const override { return "switch"; }
};

}  // namespace

std::unique_ptr<FabricModel> build_switch_fabric(const FabricSite& site) {
  return std::make_unique<SingleSwitch>(site);
}

}  // namespace orrery
