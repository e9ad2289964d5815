#include "sim/metrics/traffic.hpp"

#include <algorithm>

namespace orrery {

std::array<double, kDimensionCount> bytes_per_gpu(const Traffic& traffic, std::uint32_t gpus,
                                                  std::int64_t steps) {
  std::array<double, kDimensionCount> out = traffic.sent;
  const auto shares = static_cast<double>(gpus) * static_cast<double>(steps);
  for (double& bytes : out) bytes /= shares;
  return out;
}

std::vector<LinkUtilization> link_utilization(std::span<const LinkTraffic> traffic, Picoseconds makespan) {
  std::vector<LinkUtilization> out;
  const double seconds = to_seconds(makespan);
  for (auto first = traffic.begin(); first != traffic.end();) {
    LinkUtilization kind{first->kind, 0, 0};
    std::int64_t links = 0;
    for (; first != traffic.end() && first->kind == kind.kind; ++first) {
      links += first->links;
      if (seconds <= 0) continue;
      const double could = static_cast<double>(first->bytes_per_s) * seconds;
      kind.mean += static_cast<double>(first->bytes) / could;
      kind.peak = std::max(kind.peak, static_cast<double>(first->most) / could);
    }
    kind.mean = std::min(kind.mean / static_cast<double>(links), kind.peak);
    out.push_back(kind);
  }
  return out;
}

}  // namespace orrery
