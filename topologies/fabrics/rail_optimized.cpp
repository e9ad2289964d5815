// Rail-optimised fabric (DGX SuperPOD): port i of every node is plugged into a leaf of rail i. Messages
// to another rail first cross the wiring of their node to the GPU on that rail (NCCL's PXN). Spines
// join the leaves where one leaf does not hold a rail, or where nodes have no wiring.
#include "orrery/error.hpp"
#include "topologies/fabrics/builders.hpp"
#include "topologies/fabrics/nic_links.hpp"
#include "topologies/fabrics/switch_tree.hpp"
#include "topologies/fabrics/tree_checks.hpp"

namespace orrery {
namespace {

std::int64_t nodes_per_leaf(const FabricSite& site) {
  check_tree_shape(site.spec);
  if (site.spec.shape.size() > 1) {
    throw InputError("/cluster/fabric/shape", "found " + std::to_string(site.spec.shape.size()) +
                                                  " numbers; allowed is one, the nodes per leaf");
  }
  return leaf_nodes(site);
}

/// Leaves are numbered by their nodes, then by rail.
SwitchTreePlan plan_rails(const FabricSite& site, std::int64_t leaf_nodes) {
  const std::int64_t leaves_per_rail = (site.nodes + leaf_nodes - 1) / leaf_nodes;
  const std::int64_t leaves = leaves_per_rail * site.ports;
  std::vector<std::int64_t> children{leaf_nodes};
  if (leaves_per_rail > 1 || !site.wired) children.push_back(leaves);
  const double leaf_rate = static_cast<double>(leaf_nodes) * static_cast<double>(site.node_bytes_per_s) /
                           static_cast<double>(site.ports);
  return {saturating_product(leaves, leaf_nodes), std::move(children), leaf_rate, site.spec.oversubscription,
          site.spec.adaptive_routing};
}

class RailOptimized final : public FabricModel {
 public:
  explicit RailOptimized(const FabricSite& site)
      : FabricModel(site),
        leaf_nodes_(static_cast<std::uint32_t>(nodes_per_leaf(site))),
        tree_(plan_rails(site, leaf_nodes_), site, site.first_link + 2 * port_count()) {}

  [[nodiscard]] std::int64_t link_count() const override { return 2 * port_count() + tree_.link_count(); }
  [[nodiscard]] std::int64_t switch_count() const override { return tree_.switch_count(); }
  [[nodiscard]] PortChange port_change() const override {
    return site().wired ? PortChange::before : PortChange::in_fabric;
  }

  void add_links(std::vector<Link>& links) const override {
    add_nic_links(site(), links, [this](Port port) { return tree_.leaf(slot(port)); });
    tree_.add_links(links);
  }

  void route(Port from, Port to, std::vector<LinkId>& out) const override {
    out.push_back(nic_out(site(), port_index(from)));
    tree_.route(slot(from), slot(to), out);
    out.push_back(nic_in(site(), port_index(to)));
  }

  [[nodiscard]] std::string switch_name(std::uint32_t number) const override {
    return tree_.switch_name(number);
  }

 private:
  [[nodiscard]] std::uint32_t slot(Port port) const {
    const std::uint32_t leaf = port.node / leaf_nodes_ * site().ports + port.number;
    return leaf * leaf_nodes_ + port.node % leaf_nodes_;
  }

  std::uint32_t leaf_nodes_;
  SwitchTree tree_;
};

}  // namespace

std::unique_ptr<FabricModel> build_rail_fabric(const FabricSite& site) {
  return std::make_unique<RailOptimized>(site);
}

}  // namespace orrery
