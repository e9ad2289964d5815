// Drives a FlowNetwork through given starts, without the engine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "sim/network/flow_network.hpp"

namespace orrery::test {

struct FlowStart {
  Picoseconds time = 0;
  std::uint32_t name = 0;
  Leg leg;
  std::vector<LinkUse> uses;
};

/// The leg of `work` ps alone at `rate`.
inline Leg data_leg(Picoseconds alone_ps, std::int64_t rate) {
  return {.latency_ps = 0, .alone_ps = alone_ps, .rate = rate, .use_begin = 0, .use_end = 0};
}

inline LinkUse on_link(std::uint32_t link, std::uint64_t weight = kWeightOne) {
  return {LinkId{link}, weight};
}

/// Calls `observe(now)` after each change; gives the end of each flow by name. `starts` is sorted by
/// time here, but those of one time keep their order.
template <class Observer>
std::map<std::uint32_t, Picoseconds> drive(FlowNetwork& network, std::vector<FlowStart>& starts,
                                           Observer observe) {
  std::stable_sort(starts.begin(), starts.end(),
                   [](const FlowStart& a, const FlowStart& b) { return a.time < b.time; });
  std::map<std::uint32_t, Picoseconds> ends;
  std::vector<std::uint32_t> finished;
  auto next = starts.begin();
  while (true) {
    const Picoseconds now = std::min(next == starts.end() ? kNever : next->time, network.next_event());
    if (now == kNever) return ends;
    finished.clear();
    network.advance(now, finished);
    for (const std::uint32_t name : finished) ends[name] = now;
    for (; next != starts.end() && next->time == now; ++next)
      network.start(next->name, next->leg, next->uses);
    observe(now);
  }
}

inline std::map<std::uint32_t, Picoseconds> drive(FlowNetwork& network, std::vector<FlowStart> starts) {
  return drive(network, starts, [](Picoseconds) {});
}

}  // namespace orrery::test
