// Adds times with an error instead of wrapping.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "orrery/task_graph.hpp"
#include "orrery/units.hpp"
#include "sim/network/network_model.hpp"

namespace orrery {

[[noreturn]] inline void throw_bad_time(std::uint32_t task, Picoseconds duration) {
  const std::string name = "task " + std::to_string(task);
  if (duration < 0) {
    throw std::invalid_argument(name + ": negative duration of " + std::to_string(duration) + " ps");
  }
  throw std::overflow_error(name + " finishes later than 2^62 ps (53 days), the end of simulated time");
}

/// time + duration, where 0 <= time <= kTimeLimit; throws when the sum is beyond that or the
/// duration is negative.
inline Picoseconds later(Picoseconds time, Picoseconds duration, std::uint32_t task) {
  // A negative duration is huge as an unsigned number, so one comparison finds both.
  if (static_cast<std::uint64_t>(duration) > static_cast<std::uint64_t>(kTimeLimit - time)) [[unlikely]] {
    throw_bad_time(task, duration);
  }
  return time + duration;
}

/// TaskGraph::released that throws like `later` instead of passing the end of time.
inline Picoseconds released(const TaskGraph& graph, std::uint32_t task, std::uint32_t pred,
                            Picoseconds finish) {
  return graph.lags(task, pred) ? later(finish, graph.lag[task], task) : finish;
}

}  // namespace orrery
