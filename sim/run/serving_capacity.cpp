#include "sim/run/serving_capacity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

namespace orrery {
namespace {

constexpr std::int64_t kPerDecade = 900;
constexpr std::int64_t kFirst = 3 * kPerDecade;  ///< 1 per second
constexpr std::int64_t kMost = 9 * kPerDecade;   ///< a million

class CapacitySearch {
 public:
  CapacitySearch(const ServiceLevel& slo, const std::function<Serving(double)>& serve_at)
      : slo_(slo), serve_at_(serve_at) {}

  Capacity run() {
    std::int64_t kept = -1;
    std::int64_t broken = kMost + 1;
    bracket(kept, broken);
    for (;;) {
      halve(kept, broken);
      // Chance makes a rate break a limit that the next ones keep.
      constexpr std::int64_t kFarther = 3;
      const std::int64_t last = std::min(broken + kFarther, kMost);
      std::int64_t again = broken;
      while (again <= last && !keeps(again)) ++again;
      if (again > last) break;
      kept = again;
      broken = again + 1;
      while (broken <= kMost && keeps(broken)) kept = broken++;
    }
    const std::int64_t reported = std::max<std::int64_t>(kept, 0);
    return {kept < 0 ? 0 : numbered_rate(kept), broken > kMost ? 0 : numbered_rate(broken),
            broken > kMost ? "" : tried(broken).obstacle, tried(reported).requests,
            static_cast<std::int64_t>(tried_.size())};
  }

 private:
  /// Tenfold steps from one request per second.
  void bracket(std::int64_t& kept, std::int64_t& broken) {
    std::int64_t at = kFirst;
    if (keeps(at)) {
      for (kept = at; kept < kMost && broken > kMost; at += kPerDecade)
        (keeps(std::min(at + kPerDecade, kMost)) ? kept : broken) = std::min(at + kPerDecade, kMost);
    } else {
      for (broken = at; broken > 0 && kept < 0; at -= kPerDecade)
        (keeps(std::max<std::int64_t>(at - kPerDecade, 0)) ? kept : broken) =
            std::max<std::int64_t>(at - kPerDecade, 0);
    }
  }

  void halve(std::int64_t& kept, std::int64_t& broken) {
    while (broken - kept > 1) {
      const std::int64_t middle = kept + (broken - kept) / 2;
      (keeps(middle) ? kept : broken) = middle;
    }
  }

  struct Trial {
    std::string obstacle;  ///< a limit, or a queue that grows or of which nobody can tell; "": nothing
    std::int64_t requests = 0;
  };

  bool keeps(std::int64_t rate) { return tried(rate).obstacle.empty(); }

  const Trial& tried(std::int64_t rate) {
    const auto known = tried_.find(rate);
    if (known != tried_.end()) return known->second;
    const Serving serving = serve_at_(numbered_rate(rate));
    const std::vector<ServiceLimit> broken = broken_limits(slo_, serving);
    Trial trial{std::string(broken.empty() ? "" : broken.front().key), serving.requests};
    if (trial.obstacle.empty() && serving.unstable.value_or(true)) trial.obstacle = "queue";
    return tried_.emplace(rate, std::move(trial)).first->second;
  }

  const ServiceLevel& slo_;
  const std::function<Serving(double)>& serve_at_;
  std::map<std::int64_t, Trial> tried_;
};

}  // namespace

double numbered_rate(std::int64_t number) {
  const std::string text = fmt::format("{}e{}", 100 + number % kPerDecade, number / kPerDecade - 5);
  return std::strtod(text.c_str(), nullptr);
}

Capacity find_capacity(const ServiceLevel& slo, const std::function<Serving(double)>& serve_at) {
  return CapacitySearch(slo, serve_at).run();
}

}  // namespace orrery
