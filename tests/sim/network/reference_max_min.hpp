// Computes max-min fair rates in the plain way: all flows and all links, from scratch, in 128-bit arithmetic,
// one rate at a time. FlowNetwork must equal it exactly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "orrery/task_graph.hpp"

namespace orrery::test {

struct ReferenceFlow {
  std::int64_t limit = 0;
  std::vector<LinkUse> uses;
};

class ReferenceMaxMin {
 public:
  ReferenceMaxMin(const std::vector<std::int64_t>& bytes_per_s, const std::vector<ReferenceFlow>& flows)
      : bytes_per_s_(bytes_per_s), flows_(flows), rates_(flows.size(), 0) {
    while (std::count(rates_.begin(), rates_.end(), 0) > 0) round();
  }
  [[nodiscard]] const std::vector<std::int64_t>& rates() const { return rates_; }

 private:
  void round() {
    std::vector<Int128> levels;
    Int128 lowest = Int128{1} << 100;
    for (std::uint32_t link = 0; link < bytes_per_s_.size(); ++link) {
      levels.push_back(level(link));
      lowest = std::min(lowest, levels.back());
    }
    if (fix_slowest_limited(lowest)) return;
    std::vector<std::size_t> at_bottleneck;
    for (std::size_t f = 0; f < flows_.size(); ++f) {
      const auto& uses = flows_[f].uses;
      const bool hit = std::any_of(uses.begin(), uses.end(),
                                   [&](const LinkUse& use) { return levels[index(use.link)] == lowest; });
      if (rates_[f] == 0 && hit) at_bottleneck.push_back(f);
    }
    for (const std::size_t f : at_bottleneck) rates_[f] = static_cast<std::int64_t>(lowest);
  }

  /// Only the single lowest limit, where it is at most the lowest level.
  bool fix_slowest_limited(Int128 lowest) {
    std::size_t slowest = flows_.size();
    for (std::size_t f = 0; f < flows_.size(); ++f) {
      if (rates_[f] != 0 || flows_[f].limit > lowest) continue;
      if (slowest == flows_.size() || flows_[f].limit < flows_[slowest].limit) slowest = f;
    }
    if (slowest == flows_.size()) return false;
    rates_[slowest] = flows_[slowest].limit;
    return true;
  }

  [[nodiscard]] Int128 level(std::uint32_t link) const {
    Int128 left = static_cast<Int128>(bytes_per_s_[link]) * static_cast<Int128>(kWeightOne);
    Int128 open = 0;
    for (std::size_t f = 0; f < flows_.size(); ++f) {
      for (const LinkUse& use : flows_[f].uses) {
        if (index(use.link) != link) continue;
        left -= static_cast<Int128>(rates_[f]) * static_cast<Int128>(use.weight);
        if (rates_[f] == 0) open += static_cast<Int128>(use.weight);
      }
    }
    if (open == 0) return Int128{1} << 100;
    return std::max<Int128>(1, left / open);
  }

  const std::vector<std::int64_t>& bytes_per_s_;
  const std::vector<ReferenceFlow>& flows_;
  std::vector<std::int64_t> rates_;
};

}  // namespace orrery::test
