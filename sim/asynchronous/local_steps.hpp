// Records how long the local steps of workers take and how their GPUs spend them. The times come from a run
// in which workers never exchange models.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "orrery/rank_grid.hpp"
#include "sim/metrics/build_report.hpp"

namespace orrery {

/// Holds the times at which a worker that never exchanges models has done its first, second, ... step. After
/// the simulated steps the same durations repeat.
class LocalSteps {
 public:
  /// `finish` is not empty and ascending, in ps.
  explicit LocalSteps(std::vector<Picoseconds> finish) : finish_(std::move(finish)) {}

  /// Returns the time after `steps` steps.
  [[nodiscard]] Picoseconds finish(std::int64_t steps) const {
    const auto known = static_cast<std::int64_t>(finish_.size());
    const Picoseconds rest = steps % known > 0 ? finish_[static_cast<std::size_t>(steps % known - 1)] : 0;
    return steps / known * finish_.back() + rest;
  }
  /// Returns the duration of the step after `steps` steps.
  [[nodiscard]] Picoseconds duration(std::int64_t steps) const { return finish(steps + 1) - finish(steps); }
  /// Returns the duration of all simulated steps.
  [[nodiscard]] Picoseconds all() const { return finish_.back(); }

 private:
  std::vector<Picoseconds> finish_;
};

/// Returns the local steps per worker, which is replica d of the data axis with all its ranks.
[[nodiscard]] std::vector<LocalSteps> local_steps(const RunView& run, const RankGrid& grid);

/// Holds the times of GPUs in a run of exchanges, by class of ranks.
struct WorkerClasses {
  std::vector<ClassTimes> times;
  std::vector<std::uint32_t> multiplicity;  ///< GPUs with these times
};

/// Shares the busy time of each worker out as in its simulated steps, and adds its waits as exposed data, so
/// that each GPU has `makespan` in all.
/// @param simulated  per class of ranks, of the whole run in which workers do not meet
/// @param busy       per worker: time of its local steps, an unfinished one included
[[nodiscard]] WorkerClasses times_of_workers(const RunView& run, const RankGrid& grid,
                                             const std::vector<ClassTimes>& simulated,
                                             const std::vector<LocalSteps>& steps,
                                             const std::vector<Picoseconds>& busy, Picoseconds makespan);

}  // namespace orrery
