#include "importers/machines/fabric_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>

namespace orrery::importers::machines {
namespace {

constexpr int kMaxLevels = 8;

/// The key with the largest count, the first of equals.
template <class Key>
Key most_counted(const std::map<Key, std::size_t>& counts) {
  const auto most =
      std::ranges::max_element(counts, [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? Key{} : most->first;
}

/// The representative of `name`, on the way shortening ways to it.
const std::string& root_of(std::map<std::string, std::string>& groups, const std::string& name) {
  std::string at = name;
  while (groups.at(at) != at) at = groups.at(at) = groups.at(groups.at(at));
  return groups.at(at);
}

}  // namespace

void FabricGraph::join_host(const std::string& host, const std::string& to, double gbps) {
  hosts_[host].push_back({to, gbps});
  switches_[to];
}

void FabricGraph::join_switches(const std::string& a, const std::string& b, double gbps) {
  switches_[a].push_back({b, gbps});
  switches_[b].push_back({a, gbps});
}

/// NICs of the hosts that have most of all NICs: hosts for storage and log-in have fewer.
std::size_t FabricGraph::usual_nics() const {
  std::map<std::size_t, std::size_t> ports;
  for (const auto& [host, nics] : hosts_) ports[nics.size()] += nics.size();
  return most_counted(ports);
}

std::map<std::string, std::size_t> FabricGraph::hosts_of_leaves(std::size_t nics) const {
  std::map<std::string, std::set<std::string>> hosts;
  for (const auto& [host, links] : hosts_)
    if (links.size() == nics)
      for (const Link& link : links) hosts[link.to].insert(host);
  std::map<std::string, std::size_t> counts;
  for (const auto& [leaf, names] : hosts) counts[leaf] = names.size();
  return counts;
}

/// Steps from the nearest leaf, by switch.
std::map<std::string, int> FabricGraph::levels(const std::map<std::string, std::size_t>& leaves) const {
  std::map<std::string, int> levels;
  std::deque<std::string> open;
  for (const auto& [leaf, hosts] : leaves) {
    levels[leaf] = 0;
    open.push_back(leaf);
  }
  for (; !open.empty(); open.pop_front())
    for (const Link& link : switches_.at(open.front()))
      if (levels.emplace(link.to, levels.at(open.front()) + 1).second) open.push_back(link.to);
  return levels;
}

/// Switches that reach each other over levels up to `level`.
FabricGraph::Groups FabricGraph::groups_below(const std::map<std::string, int>& levels, int level) const {
  Groups groups;
  for (const auto& [name, at] : levels)
    if (at <= level) groups[name] = name;
  for (const auto& [name, links] : switches_)
    for (const Link& link : links)
      if (groups.contains(name) && groups.contains(link.to) && level > 0) {
        const std::string a = root_of(groups, name), b = root_of(groups, link.to);
        groups[std::max(a, b)] = std::min(a, b);
      }
  for (auto& [name, group] : groups) group = root_of(groups, name);
  return groups;
}

/// Hosts of the fullest leaf, then the most groups of leaves that switches of each level join.
std::vector<std::int64_t> FabricGraph::tree_shape(const std::map<std::string, std::size_t>& leaves) const {
  std::size_t most = 0;
  std::set<std::string> groups;  // a leaf of each
  for (const auto& [leaf, hosts] : leaves) {
    most = std::max(most, hosts);
    groups.insert(leaf);
  }
  std::vector<std::int64_t> shape{static_cast<std::int64_t>(most)};
  const std::map<std::string, int> level_of = levels(leaves);
  for (int level = 1; groups.size() > 1 && level <= kMaxLevels; ++level) {
    const Groups above = groups_below(level_of, level);
    std::map<std::string, std::vector<std::string>> joined;
    for (const std::string& leaf : groups) joined[above.at(leaf)].push_back(leaf);
    std::size_t children = 1;
    groups.clear();
    for (const auto& [group, parts] : joined) {
      children = std::max(children, parts.size());
      groups.insert(parts.front());
    }
    if (children > 1) shape.push_back(static_cast<std::int64_t>(children));
  }
  if (groups.size() > 1) shape.push_back(static_cast<std::int64_t>(groups.size()));
  return shape;
}

double FabricGraph::oversubscription_of(const std::map<std::string, std::size_t>& leaves) const {
  double down = 0, up = 0;
  for (const auto& [host, links] : hosts_)
    for (const Link& link : links) down += leaves.contains(link.to) ? link.gbps : 0;
  for (const auto& [leaf, hosts] : leaves)
    for (const Link& link : switches_.at(leaf)) up += link.gbps;
  return down > 0 && up > 0 ? std::max(1.0, down / up) : 0;
}

/// Rails: NICs of a host end at a leaf each.
bool FabricGraph::has_rails(std::size_t nics) const {
  if (nics < 2) return false;
  std::size_t on_rails = 0, all = 0;
  for (const auto& [host, links] : hosts_) {
    if (links.size() != nics) continue;
    std::set<std::string> leaves;
    for (const Link& link : links) leaves.insert(link.to);
    ++all;
    on_rails += leaves.size() == nics ? 1 : 0;
  }
  return 2 * on_rails > all;
}

double FabricGraph::usual_rate(std::size_t nics) const {
  std::map<double, std::size_t> rates;
  for (const auto& [host, links] : hosts_)
    if (links.size() == nics)
      for (const Link& link : links) ++rates[link.gbps];
  return most_counted(rates);
}

FabricShape FabricGraph::shape() const {
  FabricShape out;
  out.nics_per_node = usual_nics();
  const auto leaves = hosts_of_leaves(out.nics_per_node);
  out.nodes = static_cast<std::size_t>(std::ranges::count_if(
      hosts_, [&out](const auto& host) { return host.second.size() == out.nics_per_node; }));
  out.other_hosts = hosts_.size() - out.nodes;
  out.leaves = leaves.size();
  out.switches = switches_.size();
  out.nic_gbps = usual_rate(out.nics_per_node);
  out.kind = leaves.size() < 2 ? "switch" : has_rails(out.nics_per_node) ? "rail-optimized" : "fat-tree";
  if (out.kind == "switch") return out;
  out.oversubscription = oversubscription_of(leaves);
  out.shape = tree_shape(leaves);
  if (out.kind == "rail-optimized") out.shape.resize(1);
  return out;
}

void map_fabric(const FabricShape& fabric, const SourceKey& where, Draft& draft) {
  const auto key = [&where](std::string name, Json value) {
    return SourceKey{std::move(name), std::move(value), where.place};
  };
  draft.map(
      key("hosts", fabric.nodes), "cluster.nodes", fabric.nodes,
      fabric.other_hosts == 0
          ? ""
          : fmt::format("{} hosts more have another number of NICs and do not count", fabric.other_hosts));
  const std::string found = fmt::format("{} switches, {} of them with hosts", fabric.switches, fabric.leaves);
  draft.map(key("switches", found), "cluster.fabric.kind", fabric.kind);
  if (!fabric.shape.empty())
    draft.map(key("switches", found), "cluster.fabric.shape", fabric.shape,
              fabric.kind == "fat-tree" ? "from the leaves up, the most of each level" : "hosts of a leaf");
  if (fabric.oversubscription > 0)
    draft.map(key("links of leaves", fabric.oversubscription), "cluster.fabric.oversubscription",
              fabric.oversubscription, "rates below the leaves over those above");
  if (fabric.nic_gbps == 0) return;
  draft.map(key("links of hosts", fabric.nic_gbps), "cluster.fabric.nic_gbps");
  draft.map(key("NICs of a host", fabric.nics_per_node), "cluster.fabric.nics_per_node");
}

}  // namespace orrery::importers::machines
