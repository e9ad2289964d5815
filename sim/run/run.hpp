// Runs one experiment from end to end: its step through all rooms, and the report on it.
#pragma once

#include <optional>
#include <span>

#include "orrery/experiment.hpp"
#include "orrery/report.hpp"
#include "sim/metrics/build_report.hpp"
#include "sim/metrics/memory_moment.hpp"
#include "sim/step/memo.hpp"
#include "sim/step/prepared_experiment.hpp"
#include "sim/step/step.hpp"

namespace orrery {

/// A whole step, every micro-batch of it, for timelines and traces.
struct Run : SimulatedStep {
  Report report;
};

/// @throws as simulate(), and InputError if the programs of the step would not fit into memory.
[[nodiscard]] Run run(const PreparedExperiment& prepared, Memo& memo);
[[nodiscard]] Run run(const Experiment& experiment);

/// Runs the step for readers of operations: where the detail of the experiment takes passes for one
/// operation each, on the compute stream, they are those of every layer. The report is of the detail asked
/// for.
[[nodiscard]] Run run_in_layers(const PreparedExperiment& prepared, Memo& memo);

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

/// A report says this whatever is simulated: the experiment that it is of, where its origin is asked for, its
/// model, its GPUs and what they can do.
void add_experiment(const PreparedExperiment& prepared, const Figures& figures, Report& report);

[[nodiscard]] Report report_on(const PreparedExperiment& prepared, const StepFacts& facts,
                               const Traffic& traffic, const Totals& totals, const Figures& figures);

/// Reports on the memory of stages alone: the makespan is 0.
[[nodiscard]] Report memory_report(const PreparedExperiment& prepared, const Figures& figures = {});

/// account_memory() of an experiment that is prepared.
[[nodiscard]] Report account_memory(const PreparedExperiment& prepared, const Figures& figures, Memo& memo);

}  // namespace orrery
