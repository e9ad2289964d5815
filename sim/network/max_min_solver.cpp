#include "sim/network/max_min_solver.hpp"

#include <algorithm>
#include <numeric>

namespace orrery {

void MaxMinSolver::clear() {
  links_.clear();
  limit_.clear();
  use_begin_.clear();
  uses_.clear();
}

void MaxMinSolver::solve() {
  prepare();
  while (open_ > 0) {
    const std::uint64_t level = lowest_level();
    if (least_limit_ <= level && fix_limited(level)) continue;
    fix_bottlenecks(level);
  }
}

void MaxMinSolver::prepare() {
  use_begin_.push_back(static_cast<std::uint32_t>(uses_.size()));
  list_members();
  level_.assign(links_.size(), kStale);
  stale_links_.resize(links_.size());
  std::iota(stale_links_.begin(), stale_links_.end(), 0U);
  rate_.assign(limit_.size(), 0);
  open_ = flows();
  open_flows_.resize(open_);
  std::iota(open_flows_.begin(), open_flows_.end(), 0U);
  least_limit_ = 0;
}

void MaxMinSolver::list_members() {
  member_begin_.assign(links_.size() + 1, 0);
  for (const Use& use : uses_) ++member_begin_[use.link];
  std::inclusive_scan(member_begin_.begin(), member_begin_.end(), member_begin_.begin());
  members_.resize(uses_.size());
  for (std::uint32_t flow = 0; flow < flows(); ++flow) {
    for (std::uint32_t u = use_begin_[flow]; u < use_begin_[flow + 1]; ++u) {
      members_[--member_begin_[uses_[u].link]] = flow;
    }
  }
}

std::uint64_t MaxMinSolver::lowest_level() {
  for (const std::uint32_t link : stale_links_) {
    const auto [left, open_weight] = links_[link];
    level_[link] = open_weight == 0 ? kUnbounded : std::max<std::uint64_t>(1, left / open_weight);
  }
  stale_links_.clear();
  std::uint64_t lowest = kUnbounded;
  for (const std::uint64_t level : level_) lowest = std::min(lowest, level);
  return lowest;
}

/// Gives every open flow whose limit is at most `level` its limit; false when there is none.
bool MaxMinSolver::fix_limited(std::uint64_t level) {
  const std::uint32_t before = open_;
  std::size_t kept = 0;
  least_limit_ = kUnbounded;
  for (const std::uint32_t flow : open_flows_) {
    if (rate_[flow] != 0) continue;
    if (limit_[flow] <= level) {
      fix(flow, limit_[flow]);
      continue;
    }
    least_limit_ = std::min(least_limit_, limit_[flow]);
    open_flows_[kept++] = flow;
  }
  open_flows_.resize(kept);
  return open_ != before;
}

void MaxMinSolver::fix_bottlenecks(std::uint64_t level) {
  bottlenecks_.clear();
  for (std::uint32_t link = 0; link < level_.size(); ++link) {
    if (level_[link] == level) bottlenecks_.push_back(link);
  }
  for (const std::uint32_t link : bottlenecks_) {
    for (std::uint32_t m = member_begin_[link]; m < member_begin_[link + 1]; ++m) {
      if (rate_[members_[m]] == 0) fix(members_[m], level);
    }
  }
}

void MaxMinSolver::fix(std::uint32_t flow, std::uint64_t rate) {
  rate_[flow] = rate;
  --open_;
  for (std::uint32_t u = use_begin_[flow]; u < use_begin_[flow + 1]; ++u) {
    const std::uint32_t link = uses_[u].link;
    LinkState& state = links_[link];
    // rate <= level, so the product is at most state.left, unless the level was raised to 1.
    state.left -= std::min(state.left, rate * uses_[u].weight);
    state.open_weight -= uses_[u].weight;
    if (level_[link] != kStale) stale_links_.push_back(link);
    level_[link] = kStale;
  }
}

}  // namespace orrery
