// Walks through the events of a trace in order of time over all its ranks. Formats with one list of events
// use it; those with a list per thread use SliceCursor.
#pragma once

#include <string>

#include "orrery/rank_grid.hpp"
#include "reports/trace/counters.hpp"
#include "reports/trace/slices.hpp"

namespace orrery {

/// Traces of up to this many operations show every step of the counters and every argument.
inline constexpr std::uint64_t kDetailedOperations = 20'000;
[[nodiscard]] inline bool is_detailed(const TracePlan& plan) {
  return plan.operations <= kDetailedOperations;
}

class TraceEvents {
 public:
  virtual ~TraceEvents() = default;
  /// Receives a slice at its start.
  virtual void slice(const TraceSlice& slice) = 0;
  /// Receives the memory from that time on.
  virtual void memory(std::uint32_t rank, Nanoseconds time, Bytes bytes) = 0;
  /// Receives the rates from that time on, in dimensions in which `uses`.
  virtual void links(std::uint32_t rank, Nanoseconds time, const LinkCounter::Rates& rates,
                     const LinkCounter& uses) = 0;
};

/// Memory does not grow with the number of events.
void walk(const TracePlan& plan, TraceEvents& events);

/// Streams of a rank that have slices at the plan's level, in ascending order.
[[nodiscard]] std::vector<std::uint32_t> traced_streams(const TracePlan& plan, std::uint32_t rank);

/// Streams up to the last one that a program uses.
[[nodiscard]] std::uint32_t used_streams(const Workload& workload);

/// Returns the place of a rank, such as "rank 9: tp 1 dp 1 pp 0 (node 1, gpu 1)".
[[nodiscard]] std::string process_name(const TracePlan& plan, const RankGrid& grid, std::uint32_t rank);

}  // namespace orrery
