// Simulates the weeks of training of an experiment: repetitions of its run, their means and deciles, and the
// interval of checkpoints that suits it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "sim/long_run/make_run_model.hpp"
#include "sim/long_run/run_simulation.hpp"

namespace orrery {

/// Sums over repetitions.
struct RunTotals {
  std::int64_t repetitions = 0;
  LongPicoseconds wall_ps = 0;
  std::array<LongPicoseconds, kTimeUseCount> time_ps{};  ///< by TimeUse; the sum is wall_ps
  std::int64_t interruptions = 0;
  std::int64_t checkpoints = 0;
  std::vector<std::int64_t> failures;  ///< by kind of the model

  void add(const RunOutcome& outcome);
  [[nodiscard]] double mean_s(LongPicoseconds sum) const;
  [[nodiscard]] double seconds(TimeUse use) const { return mean_s(time_ps[static_cast<std::size_t>(use)]); }
  [[nodiscard]] double mean(std::int64_t sum) const {
    return static_cast<double>(sum) / static_cast<double>(repetitions);
  }
};

/// Intervals between checkpoints, in steps; 0: not computed.
struct CheckpointIntervals {
  double young_s = 0;              ///< by Young's law
  double daly_s = 0;               ///< and by Daly's
  std::int64_t optimal_steps = 0;  ///< of the shortest simulated run, where the experiment asks for it
};

struct LongRunResult {
  Experiment experiment;
  PreparedRun prepared;
  CheckpointIntervals intervals;
  RunTotals totals;
  std::vector<double> days;  ///< of each repetition, in order of size; with the range of the step time
  RunOutcome shown;          ///< the repetition whose time is the median, with its spans
  std::string never_ends;    ///< the reason; "": all repetitions end

  [[nodiscard]] bool ends() const { return totals.repetitions > 0 && never_ends.empty(); }
  [[nodiscard]] bool feasible() const { return prepared.step.feasible && ends(); }
  [[nodiscard]] double wall_s() const { return totals.mean_s(totals.wall_ps); }
  [[nodiscard]] double mean_days() const { return wall_s() / 86'400; }
  /// Returns the decile of the days: the smallest that so many tenths of the repetitions do not exceed.
  [[nodiscard]] double days_quantile(double share) const;
  /// Work done over what would have been done without anything else in the time.
  [[nodiscard]] double goodput() const { return share(totals.time_ps[0]); }
  /// Time of steps that count, whatever their pace, over all time (RSC's ETTR).
  [[nodiscard]] double training_share() const;
  [[nodiscard]] double mfu() const { return prepared.step.mfu() * goodput(); }
  /// Nodes that are paid for: those of the run and its spares.
  [[nodiscard]] std::int64_t nodes() const;
  [[nodiscard]] double cost_usd() const;
  /// With the most that GPUs draw while they compute, and their static power, where it is known, else.
  [[nodiscard]] double energy_kwh() const;
  [[nodiscard]] double mean_hours_between_stops() const;

 private:
  [[nodiscard]] double share(LongPicoseconds time) const;
};

/// @throws as prepare_run()
[[nodiscard]] LongRunResult simulate_long_run(const Experiment& experiment, const SimulateStep& simulate);

/// Returns the figures of a report.
[[nodiscard]] LongRunFigures figures_of_long_run(const LongRunResult& result);

}  // namespace orrery
