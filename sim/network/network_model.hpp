// Declares a network whose flows may slow each other down. The engine starts flows and asks two questions:
// when is your next event, and which flows ended when time moved there? The model knows neither tasks nor why
// data moves; a flow is the data part of one leg.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "orrery/task_graph.hpp"
#include "orrery/units.hpp"

namespace orrery {

/// Later than any event.
inline constexpr Picoseconds kNever = std::numeric_limits<Picoseconds>::max();
/// The latest time a run may reach (53 days); sums of two times up to here do not wrap.
inline constexpr Picoseconds kTimeLimit = Picoseconds{1} << 62;

class NetworkModel {
 public:
  virtual ~NetworkModel() = default;
  NetworkModel(const NetworkModel&) = delete;
  NetworkModel& operator=(const NetworkModel&) = delete;

  /// Drops all flows and goes back to time 0.
  virtual void reset() = 0;

  /// Starts the data of `leg` at the current time. `flow` is the caller's name for it, reported when
  /// it ends. `uses` names a link at most once and must live until the flow has ended. A flow of no
  /// data (alone_ps == 0) ends at the current time.
  virtual void start(std::uint32_t flow, const Leg& leg, std::span<const LinkUse> uses) = 0;

  /// Returns a time before which no flow ends; kNever if there are no flows. It may be early: advancing there
  /// then ends nothing.
  [[nodiscard]] virtual Picoseconds next_event() = 0;

  /// Moves to `time` and appends the flows that end there. `time` is at most next_event() and never
  /// goes back. Flows that start or end at one time are applied together.
  virtual void advance(Picoseconds time, std::vector<std::uint32_t>& finished) = 0;

 protected:
  NetworkModel() = default;
};

}  // namespace orrery
