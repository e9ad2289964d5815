#include "topologies/regions/regional_fabric.hpp"

#include <algorithm>
#include <string>

#include "orrery/error.hpp"
#include "topologies/common/checks.hpp"

namespace orrery {

RegionalFabric::RegionalFabric(const FabricEntry& kind, const FabricSite& site, const Regions& regions)
    : FabricModel(site), regions_(regions), lines_(regions) {
  const bool by_shape = kind.name == "grid" || kind.name == "torus" || kind.name == "dragonfly";
  if (by_shape && !site.spec.shape.empty())
    throw InputError("/cluster/fabric/shape",
                     "found a shape of the whole cluster with cluster.regions; allowed is "
                     "none: each site has a " +
                         std::string(kind.name) + " of its own, with its router as one more node");
  for (const Site& one : regions.sites) add_part(kind, one.nodes, regions.sites.size() == 1);
  if (part_of_node_.size() != site.nodes)
    throw InputError("/cluster/regions/sites", "found " + std::to_string(part_of_node_.size()) +
                                                   " nodes at all sites; allowed are the " +
                                                   std::to_string(site.nodes) + " of the cluster");
  for (const Part& part : parts_)
    if (part.fabric) change_ = part.fabric->port_change();
  first_line_ = static_cast<std::uint32_t>(site.first_link + links_);
  links_ += std::ssize(lines_.links());
}

void RegionalFabric::add_part(const FabricEntry& kind, std::int64_t nodes, bool alone) {
  check_link_count(nodes, "/cluster/regions/sites");
  Part part;
  part.nodes = static_cast<std::uint32_t>(nodes);
  part.first_node = static_cast<std::uint32_t>(part_of_node_.size());
  part.first_switch = static_cast<std::uint32_t>(switches_);
  part.first_link = static_cast<std::uint32_t>(site().first_link + links_);
  ++switches_;
  if (nodes > 0) {
    FabricSite own = site();
    own.nodes = part.nodes + (alone ? 0 : 1);
    own.first_port = 0;
    own.first_switch = own.nodes * own.ports;
    own.first_link = 0;
    part.fabric = kind.build(own);
    switches_ += part.fabric->switch_count();
    links_ += part.fabric->link_count();
  }
  check_link_count(std::max(links_, switches_), "/cluster/regions/sites");
  part_of_node_.resize(part_of_node_.size() + part.nodes, static_cast<std::uint32_t>(parts_.size()));
  parts_.push_back(std::move(part));
}

bool RegionalFabric::is_switch(const Part& part, VertexId local) const {
  const std::uint32_t plugged_in = part.nodes + (parts_.size() > 1 ? 1 : 0);
  return index(local) >= plugged_in * site().ports;
}

/// The router is plugged in as the last node, at all its ports.
bool RegionalFabric::is_router(const Part& part, VertexId local) const {
  return !is_switch(part, local) && index(local) >= part.nodes * site().ports;
}

VertexId RegionalFabric::global(const Part& part, VertexId local) const {
  const std::uint32_t router = site().first_switch + part.first_switch;
  if (is_router(part, local)) return VertexId{router};
  if (is_switch(part, local)) {
    const std::uint32_t plugged_in = part.nodes + (parts_.size() > 1 ? 1 : 0);
    return VertexId{router + 1 + index(local) - plugged_in * site().ports};
  }
  return VertexId{site().first_port + part.first_node * site().ports + index(local)};
}

/// Adds links. Those between a router and a switch are unlimited: the site's lines limit its outgoing
/// traffic.
void RegionalFabric::add_links(std::vector<Link>& links) const {
  for (const Part& part : parts_) {
    if (!part.fabric) continue;
    std::vector<Link> own;
    part.fabric->add_links(own);
    for (Link link : own) {
      if ((is_router(part, link.from) && is_switch(part, link.to)) ||
          (is_router(part, link.to) && is_switch(part, link.from)))
        link.bytes_per_s = kMaxLinkBytesPerS;
      link.from = global(part, link.from);
      link.to = global(part, link.to);
      links.push_back(link);
    }
  }
  const auto router = [this](VertexId number) {
    return VertexId{site().first_switch + parts_[index(number)].first_switch};
  };
  for (Link line : lines_.links()) {
    line.from = router(line.from);
    line.to = router(line.to);
    links.push_back(line);
  }
}

void RegionalFabric::route_in(const Part& part, Port from, Port to, std::vector<LinkId>& out) const {
  const std::size_t begin = out.size();
  part.fabric->route(from, to, out);
  for (std::size_t i = begin; i < out.size(); ++i) out[i] = LinkId{index(out[i]) + part.first_link};
}

void RegionalFabric::route(Port from, Port to, std::vector<LinkId>& out) const {
  const std::uint32_t here = part_of_node_[from.node];
  const std::uint32_t there = part_of_node_[to.node];
  const Part& first = parts_[here];
  const Part& last = parts_[there];
  from.node -= first.first_node;
  to.node -= last.first_node;
  if (here == there) return route_in(first, from, to, out);
  route_in(first, from, {first.nodes, from.number}, out);
  std::vector<std::uint32_t> lines;
  lines_.route(here, there, lines);
  for (const std::uint32_t line : lines) out.push_back(LinkId{first_line_ + line});
  route_in(last, {last.nodes, to.number}, to, out);
}

std::string RegionalFabric::switch_name(std::uint32_t number) const {
  std::size_t p = parts_.size() - 1;
  while (number < parts_[p].first_switch) --p;
  const std::uint32_t within = number - parts_[p].first_switch;
  const std::string& name = regions_.sites[p].name;
  return name + "/" + (within == 0 ? "router" : parts_[p].fabric->switch_name(within - 1));
}

}  // namespace orrery
