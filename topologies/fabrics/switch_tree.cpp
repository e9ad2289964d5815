#include "topologies/fabrics/switch_tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "orrery/error.hpp"
#include "topologies/common/checks.hpp"

namespace orrery {
namespace {

std::uint32_t narrow(std::int64_t value) {
  return static_cast<std::uint32_t>(std::min<std::int64_t>(value, UINT32_MAX));
}

}  // namespace

SwitchTree::SwitchTree(const SwitchTreePlan& plan, const FabricSite& site, std::int64_t first_link)
    : latency_(site.latency) {
  check_link_count(plan.slots);
  plan_levels(plan);
  number(site, first_link);
}

void SwitchTree::plan_levels(const SwitchTreePlan& plan) {
  std::int64_t span = 1;
  std::int64_t switches = 1;
  double up_rate = 0;
  for (std::size_t level = 0; level < plan.children.size(); ++level) {
    const std::int64_t children = plan.children[level];
    span = saturating_product(span, children);
    const std::int64_t groups = (plan.slots + span - 1) / span;
    const bool top = groups == 1 || level + 1 == plan.children.size();
    std::int64_t ways = top ? 0 : children;
    if (level == 0 && !top) {
      ways = static_cast<std::int64_t>(std::ceil(static_cast<double>(children) / plan.oversubscription));
      up_rate = plan.leaf_bytes_per_s / plan.oversubscription / static_cast<double>(ways);
    }
    if (plan.adaptive_routing && !top) {
      up_rate *= static_cast<double>(ways);
      ways = 1;
    }
    const std::int64_t up_links = saturating_product(switches, ways);
    check_link_count(saturating_product(groups, std::max(switches, 2 * up_links)));
    const std::int64_t rate = top ? 0 : link_rate(up_rate, 1, "/cluster/fabric", "nic_gbps");
    levels_.push_back({narrow(span), narrow(groups), narrow(switches), 0, narrow(up_links), 0, rate});
    if (top) return;
    switches = up_links;
  }
}

void SwitchTree::number(const FabricSite& site, std::int64_t first_link) {
  for (Level& level : levels_) {
    level.first_switch = narrow(site.first_switch + switch_count_);
    level.first_link = narrow(first_link + link_count_);
    switch_count_ += std::int64_t{level.groups} * level.switches;
    link_count_ += std::int64_t{2} * level.groups * level.up_links;
  }
}

void SwitchTree::add_links(std::vector<Link>& links) const {
  for (std::size_t above = 1; above < levels_.size(); ++above) {
    const Level& lower = levels_[above - 1];
    const Level& upper = levels_[above];
    const std::uint32_t fan_in = upper.span / lower.span;
    for (std::uint32_t group = 0; group < lower.groups; ++group) {
      for (std::uint32_t way = 0; way < lower.up_links; ++way) {
        const VertexId down{lower.first_switch + group * lower.switches + way % lower.switches};
        const VertexId up{upper.first_switch + group / fan_in * upper.switches + way};
        links.push_back({down, up, lower.up_bytes_per_s, latency_, LinkKind::fabric});
        links.push_back({up, down, lower.up_bytes_per_s, latency_, LinkKind::fabric});
      }
    }
  }
}

void SwitchTree::route(std::uint32_t from, std::uint32_t to, std::vector<LinkId>& out) const {
  const Level* level = levels_.data();
  const auto link = [to](const Level& at, std::uint32_t slot, std::uint32_t direction) {
    return LinkId{at.first_link + 2 * (slot / at.span * at.up_links + to % at.up_links) + direction};
  };
  for (; from / level->span != to / level->span; ++level) out.push_back(link(*level, from, 0));
  while (level != levels_.data()) out.push_back(link(*--level, to, 1));
}

std::string SwitchTree::switch_name(std::uint32_t number) const {
  static constexpr std::array<const char*, 3> kNames{"leaf", "spine", "core"};
  std::size_t level = 0;
  while (number >= levels_[level].groups * levels_[level].switches) {
    number -= levels_[level].groups * levels_[level].switches;
    ++level;
  }
  const std::string name = level < kNames.size() ? kNames[level] : "level" + std::to_string(level + 1) + "-";
  return name + std::to_string(number);
}

}  // namespace orrery
