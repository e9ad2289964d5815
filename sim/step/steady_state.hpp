// Finds the periods of a schedule, in the programs of its stages and in a run of them.
//
// In the steady state of a schedule every period (one micro-batch of 1F1B, p of its interleaved form)
// takes the latest times of all ranks forward by one and the same amount. Start times are maxima of
// sums, so once that holds it holds for every further period.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "orrery/plan.hpp"
#include "orrery/workload.hpp"
#include "sim/matching/channels.hpp"
#include "sim/metrics/build_report.hpp"
#include "workloads/schedules/schedules.hpp"

namespace orrery {

[[nodiscard]] SteadyState steady_state_of(const Plan& plan);

/// The last periods of programs, operation by operation.
struct Periods {
  /// An operation, and the same one a period earlier.
  struct Repeat {
    std::uint32_t program = 0;
    std::uint32_t now = 0;
    std::uint32_t before = 0;
    bool host_ahead = false;  ///< of an asynchronous host
  };
  std::vector<Repeat> repeats;  ///< those to compare; empty where there are too few periods or they differ
  /// Per program, operations of one period: the earliest that ends with a pair of passes to compare, because
  /// messages that belong to the end of the step can be in flight beside later ones.
  std::vector<RunPart::Ops> one;

  [[nodiscard]] bool found() const { return !repeats.empty(); }
  [[nodiscard]] std::size_t bytes() const {
    return sizeof *this + repeats.size() * sizeof(Repeat) + one.size() * sizeof(RunPart::Ops);
  }
};

/// `plan` is that of the programs.
[[nodiscard]] Periods find_periods(const Workload& workload, const Plan& plan);

/// Returns how often each of Channels::calls is made in a period that was found.
[[nodiscard]] std::vector<std::uint64_t> calls_in_period(const Workload& workload, const Periods& periods,
                                                         const Channels& channels);

/// The tasks that show whether the periods at the end of a run differ by a shift in time alone.
struct PeriodTasks {
  struct Pair {
    std::uint32_t task = 0;
    std::uint32_t earlier = 0;
  };
  std::vector<Pair> repeats;       ///< a period apart
  std::vector<Pair> host_repeats;  ///< the same of asynchronous hosts
  /// Tasks after the periods that wait for the host, each with the host's latest task before them if the host
  /// waits for nothing.
  std::vector<Pair> releases;
  std::vector<std::uint32_t> before;          ///< per class: the last one before Periods::one
  std::uint32_t end = 0;                      ///< of the first class: the last one of it
  std::vector<std::uint32_t> first_messages;  ///< those before the first pass

  [[nodiscard]] std::size_t bytes() const {
    return (repeats.size() + host_repeats.size() + releases.size()) * sizeof(Pair) +
           (before.size() + first_messages.size()) * sizeof(std::uint32_t);
  }
};

/// Returns the tasks of periods that were found.
[[nodiscard]] PeriodTasks period_tasks(const Workload& workload, const Periods& periods,
                                       const ExpandedGraph& expanded);

/// Returns the totals of a run and of the period at its end, if the periods there differ only by a shift in
/// time, so that more of them change nothing else. The period lasts as long as the shift.
[[nodiscard]] std::optional<StepAndPeriod> measure_period(const RunView& run, const Periods& periods,
                                                          const PeriodTasks& tasks);

}  // namespace orrery
