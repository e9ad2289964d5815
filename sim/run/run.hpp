// Runs one experiment from end to end: its step through all rooms, and the report on it.
#pragma once

#include <optional>
#include <span>

#include "orrery/experiment.hpp"
#include "orrery/report.hpp"
#include "orrery/workload.hpp"
#include "sim/metrics/build_report.hpp"
#include "sim/metrics/memory_moment.hpp"
#include "sim/step/step.hpp"

namespace orrery {

/// A whole step, every micro-batch of it, for timelines and traces.
struct Run : SimulatedStep {
  Report report;
};

/// @throws as simulate(), and InputError if the programs of the step would not fit into memory.
[[nodiscard]] Run run(const Experiment& experiment);

/// Runs with every operation in view: where the detail of the experiment fuses a pass into one operation on
/// the compute stream, the run has the operations of every layer instead. The report is that of the detail
/// asked for.
[[nodiscard]] Run run_in_layers(const Experiment& experiment);

/// Holds the facts that a report gives of a simulated step beside its times.
struct StepFacts {
  std::vector<std::uint32_t> multiplicity;  ///< per class of ranks whose times are told apart
  std::uint64_t ranks = 0;                  ///< simulated
  std::uint64_t tasks = 0;
  std::uint64_t events = 0;
  std::optional<PeakTime> peak_memory;

  /// `shortened` but for its part, which is the step's.
  StepFacts(const SimulatedStep& step, ShortenedRun shortened);
};

/// Returns how a step of `plan` is run with `simulated` micro-batches.
[[nodiscard]] ShortenedRun shortened_run(const Plan& plan, std::int64_t simulated);

/// @param outlined  the workload of `experiment`, without programs
[[nodiscard]] Report report_on(const Experiment& experiment, const Workload& outlined, const StepFacts& facts,
                               const Traffic& traffic, const Totals& totals, const Figures& figures);

/// Returns a report with memory figures only: its makespan is 0. The figures decide if it names its origin.
[[nodiscard]] Report memory_report(const Experiment& experiment, const Workload& outlined,
                                   const Figures& figures = {});

}  // namespace orrery
