// Routers in groups (Kim, Dally, Scott, Abts 2008, Technology-Driven, Highly-Scalable Dragonfly Topology):
// every router is joined to all others of its group, every group to all other groups. Messages go the minimal
// way: to the router of the group that has a link to the other group, over that link, to the receiver's
// router.
//
// Shape: p nodes per router, a routers per group, h links per router to other groups. Of the a h links of a
// group each other group gets as many, in order: the next group the first ones. The receiver's node chooses
// among those, so that each destination has a way of its own. All links between routers are as fast as a NIC.
#include <algorithm>

#include "orrery/error.hpp"
#include "topologies/common/checks.hpp"
#include "topologies/fabrics/builders.hpp"
#include "topologies/fabrics/nic_links.hpp"

namespace orrery {
namespace {

struct DragonflyShape {
  std::uint32_t nodes_per_router;
  std::uint32_t routers_per_group;
  std::uint32_t groups;
  std::uint32_t links_per_router;  ///< to other groups
  std::uint32_t links_per_pair;    ///< of groups
};

/// The smallest with a = 2p = 2h, which the paper calls balanced, that holds all nodes.
std::vector<std::int64_t> balanced_shape(std::int64_t nodes) {
  std::int64_t p = 1;
  while (2 * p * p * (2 * p * p + 1) < nodes) ++p;
  return {p, 2 * p, p};
}

DragonflyShape shape_of(const FabricSite& site) {
  const std::vector<std::int64_t> shape =
      site.spec.shape.empty() ? balanced_shape(site.nodes) : site.spec.shape;
  if (shape.size() != 3) {
    throw InputError("/cluster/fabric/shape",
                     "found " + std::to_string(shape.size()) +
                         " numbers; allowed are three: nodes per router, routers per group, links per router "
                         "to other groups");
  }
  for (const std::int64_t extent : shape) check_range("/cluster/fabric/shape", extent, 1, kMaxCount);
  const std::int64_t group_nodes = saturating_product(shape[0], shape[1]);
  const std::int64_t group_links = saturating_product(shape[1], shape[2]);
  const std::int64_t groups = site.nodes / group_nodes + (site.nodes % group_nodes > 0 ? 1 : 0);
  if (groups - 1 > group_links) {
    throw InputError("/cluster/fabric/shape",
                     "found " + std::to_string(group_links) + " links of a group to others; allowed are " +
                         std::to_string(groups - 1) + " or more, for " + std::to_string(groups) + " groups");
  }
  check_link_count(saturating_product(groups, saturating_product(shape[1], shape[1] + shape[2])));
  const std::int64_t per_pair = groups > 1 ? group_links / (groups - 1) : 0;
  const auto narrow = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  return {narrow(shape[0]), narrow(shape[1]), narrow(groups), narrow(shape[2]), narrow(per_pair)};
}

class Dragonfly final : public FabricModel {
 public:
  explicit Dragonfly(const FabricSite& site)
      : FabricModel(site),
        shape_(shape_of(site)),
        bytes_per_s_(
            link_rate(site.spec.nic_gbps * 1e9 / 8, site.spec.efficiency, "/cluster/fabric", "nic_gbps")) {}

  [[nodiscard]] std::int64_t link_count() const override {
    return 2 * port_count() + std::int64_t{shape_.groups} * group_links();
  }
  [[nodiscard]] std::int64_t switch_count() const override {
    return std::int64_t{shape_.groups} * shape_.routers_per_group;
  }

  void add_links(std::vector<Link>& links) const override {
    add_nic_links(site(), links, [this](Port port) { return vertex(router_of(port.node)); });
    for (std::uint32_t group = 0; group < shape_.groups; ++group) {
      add_local_links(group, links);
      for (std::uint32_t next = 0; next + 1 < shape_.groups; ++next) {
        for (std::uint32_t way = 0; way < shape_.links_per_pair; ++way) {
          const std::uint32_t other = (group + 1 + next) % shape_.groups;
          add_link(links, gateway(group, other, way), gateway(other, group, way));
        }
      }
    }
  }

  void route(Port from, Port to, std::vector<LinkId>& out) const override {
    out.push_back(nic_out(site(), port_index(from)));
    std::uint32_t at = router_of(from.node);
    const std::uint32_t end = router_of(to.node);
    const std::uint32_t group = at / shape_.routers_per_group;
    const std::uint32_t other = end / shape_.routers_per_group;
    if (group != other) {
      const std::uint32_t way = to.node % shape_.links_per_pair;
      append_local(at, gateway(group, other, way), out);
      out.push_back(global_link(group, other, way));
      at = gateway(other, group, way);
    }
    append_local(at, end, out);
    out.push_back(nic_in(site(), port_index(to)));
  }

  [[nodiscard]] std::string switch_name(std::uint32_t number) const override {
    return "router" + std::to_string(number);
  }

 private:
  [[nodiscard]] std::uint32_t router_of(std::uint32_t node) const { return node / shape_.nodes_per_router; }
  [[nodiscard]] VertexId vertex(std::uint32_t router) const { return VertexId{site().first_switch + router}; }

  /// Groups from `group` on to `other`, less one: which of its peers that is.
  [[nodiscard]] std::uint32_t peer(std::uint32_t group, std::uint32_t other) const {
    return (other + shape_.groups - group - 1) % shape_.groups;
  }
  /// The router of `group` with the link `way` to `other`.
  [[nodiscard]] std::uint32_t gateway(std::uint32_t group, std::uint32_t other, std::uint32_t way) const {
    const std::uint32_t link = peer(group, other) * shape_.links_per_pair + way;
    return group * shape_.routers_per_group + link / shape_.links_per_router;
  }

  /// Links that start in a group: first those between its routers, by router, then those to other groups.
  [[nodiscard]] std::uint32_t local_links() const {
    return shape_.routers_per_group * (shape_.routers_per_group - 1);
  }
  [[nodiscard]] std::uint32_t group_links() const {
    return local_links() + (shape_.groups - 1) * shape_.links_per_pair;
  }
  [[nodiscard]] std::uint32_t first_link(std::uint32_t group) const {
    return site().first_link + static_cast<std::uint32_t>(2 * port_count()) + group * group_links();
  }
  [[nodiscard]] LinkId global_link(std::uint32_t group, std::uint32_t other, std::uint32_t way) const {
    return LinkId{first_link(group) + local_links() + peer(group, other) * shape_.links_per_pair + way};
  }

  void append_local(std::uint32_t from, std::uint32_t to, std::vector<LinkId>& out) const {
    if (from == to) return;
    const std::uint32_t a = from % shape_.routers_per_group;
    const std::uint32_t b = to % shape_.routers_per_group;
    const std::uint32_t number = a * (shape_.routers_per_group - 1) + (b < a ? b : b - 1);
    out.push_back(LinkId{first_link(from / shape_.routers_per_group) + number});
  }

  void add_local_links(std::uint32_t group, std::vector<Link>& links) const {
    const std::uint32_t first = group * shape_.routers_per_group;
    for (std::uint32_t a = 0; a < shape_.routers_per_group; ++a) {
      for (std::uint32_t b = 0; b < shape_.routers_per_group; ++b) {
        if (a != b) add_link(links, first + a, first + b);
      }
    }
  }

  void add_link(std::vector<Link>& links, std::uint32_t from, std::uint32_t to) const {
    links.push_back({vertex(from), vertex(to), bytes_per_s_, site().latency, LinkKind::fabric});
  }

  DragonflyShape shape_;
  std::int64_t bytes_per_s_;
};

}  // namespace

std::unique_ptr<FabricModel> build_dragonfly_fabric(const FabricSite& site) {
  return std::make_unique<Dragonfly>(site);
}

}  // namespace orrery
