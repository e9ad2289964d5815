// A fat tree of any number of levels. All NICs of a node are plugged into one leaf; a message crosses
// 1, 3, 5 ... switches. The oversubscription is that of the leaves.
#include "orrery/error.hpp"
#include "topologies/fabrics/builders.hpp"
#include "topologies/fabrics/nic_links.hpp"
#include "topologies/fabrics/switch_tree.hpp"
#include "topologies/fabrics/tree_checks.hpp"

namespace orrery {
namespace {

/// Children from the leaves up, in nodes at the leaves.
std::vector<std::int64_t> tree_shape(const FabricSite& site) {
  check_tree_shape(site.spec);
  const std::int64_t hosts = leaf_nodes(site);
  if (site.spec.shape.empty()) return {hosts, (site.nodes + hosts - 1) / hosts};
  std::int64_t room = 1;
  for (const std::int64_t children : site.spec.shape) room = saturating_product(room, children);
  if (room < site.nodes) {
    throw InputError("/cluster/fabric/shape", "the tree has room for " + std::to_string(room) +
                                                  " nodes; the cluster has " + std::to_string(site.nodes));
  }
  return site.spec.shape;
}

SwitchTreePlan plan_tree(const FabricSite& site, std::int64_t slots) {
  std::vector<std::int64_t> children = tree_shape(site);
  const double leaf_rate = static_cast<double>(children[0]) * static_cast<double>(site.node_bytes_per_s);
  children[0] *= site.ports;
  return {slots, std::move(children), leaf_rate, site.spec.oversubscription, site.spec.adaptive_routing};
}

/// The slots of the tree are the ports, in order.
class FatTree final : public FabricModel {
 public:
  explicit FatTree(const FabricSite& site)
      : FabricModel(site), tree_(plan_tree(site, port_count()), site, site.first_link + 2 * port_count()) {}

  [[nodiscard]] std::int64_t link_count() const override { return 2 * port_count() + tree_.link_count(); }
  [[nodiscard]] std::int64_t switch_count() const override { return tree_.switch_count(); }

  void add_links(std::vector<Link>& links) const override {
    add_nic_links(site(), links, [this](Port port) { return tree_.leaf(port_index(port)); });
    tree_.add_links(links);
  }

  void route(Port from, Port to, std::vector<LinkId>& out) const override {
    out.push_back(nic_out(site(), port_index(from)));
    tree_.route(port_index(from), port_index(to), out);
    out.push_back(nic_in(site(), port_index(to)));
  }

  [[nodiscard]] std::string switch_name(std::uint32_t number) const override {
    return tree_.switch_name(number);
  }

 private:
  SwitchTree tree_;
};

}  // namespace

std::unique_ptr<FabricModel> build_fat_tree_fabric(const FabricSite& site) {
  return std::make_unique<FatTree>(site);
}

}  // namespace orrery
