#include "sim/run/serving_capacity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "orrery/error.hpp"

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
      if (again > last || tried_.size() >= kMostTrials) break;
      walk_up(kept = again, broken);
    }
    const std::int64_t reported = std::max<std::int64_t>(kept, 0);
    return {kept < 0 ? 0 : numbered_rate(kept), broken > kMost ? 0 : numbered_rate(broken),
            broken > kMost ? "" : tried(broken).obstacle, tried(reported).requests,
            static_cast<std::int64_t>(tried_.size())};
  }

 private:
  static constexpr std::size_t kMostTrials = 60;

  /// Tenfold steps from one request per second. Where that breaks a limit, higher rates may keep it, at which
  /// batches fill sooner, or chance has it; else lower ones.
  void bracket(std::int64_t& kept, std::int64_t& broken) {
    constexpr std::int64_t kStepsUp = 6;
    std::int64_t at = kFirst;
    for (std::int64_t up = 0; up < kStepsUp && !keeps(at); ++up) at += kPerDecade / 2;
    if (keeps(at)) {
      kept = at;
      while (kept < kMost && broken > kMost) {
        at = std::min(kept + kPerDecade, kMost);
        (keeps(at) ? kept : broken) = at;
      }
      return;
    }
    for (broken = kFirst; broken > 0 && kept < 0;) {
      at = std::max<std::int64_t>(broken - kPerDecade, 0);
      (keeps(at) ? kept : broken) = at;
      if (tried(at).is_too_long) return;
    }
  }

  /// From a rate that is kept in growing steps to one that is not.
  void walk_up(std::int64_t& kept, std::int64_t& broken) {
    for (std::int64_t step = 1; kept < kMost; step *= 2) {
      broken = std::min(kept + step, kMost);
      if (!keeps(broken)) return;
      kept = broken;
    }
    broken = kMost + 1;
  }

  void halve(std::int64_t& kept, std::int64_t& broken) {
    while (broken - kept > 1) {
      const std::int64_t middle = kept + (broken - kept) / 2;
      (keeps(middle) ? kept : broken) = middle;
    }
  }

  struct Trial {
    std::string obstacle;  ///< a limit, or a queue that grows or may grow; "": nothing
    std::int64_t requests = 0;
    bool is_too_long = false;  ///< such requests come or are served for longer than a run may take
  };

  bool keeps(std::int64_t rate) { return tried(rate).obstacle.empty(); }

  const Trial& tried(std::int64_t rate) {
    const auto known = tried_.find(rate);
    if (known != tried_.end()) return known->second;
    Serving serving;
    try {
      serving = serve_at_(numbered_rate(rate));
    } catch (const InputError&) {
      return tried_.emplace(rate, Trial{"length of the run", 0, true}).first->second;
    }
    const std::vector<ServiceLimit> broken = broken_limits(slo_, serving);
    Trial trial{std::string(broken.empty() ? "" : broken.front().key), serving.requests, false};
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
