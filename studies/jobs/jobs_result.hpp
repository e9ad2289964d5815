// Simulates several jobs on one cluster, and sums up what happens to each and to all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "studies/jobs/jobs_simulation.hpp"
#include "studies/jobs/make_jobs_model.hpp"

namespace orrery {

/// Time of all GPUs together, by use; the sum is GPUs times makespan, to the picosecond.
struct GpuTimes {
  Int128 useful_ps = 0;      ///< steps, as long as they take alone
  Int128 contention_ps = 0;  ///< by which they take longer
  Int128 lost_ps = 0;        ///< checkpoints of jobs that leave, and restarts
  Int128 idle_ps = 0;

  [[nodiscard]] Int128 sum() const { return useful_ps + contention_ps + lost_ps + idle_ps; }
};

struct JobsResult {
  JobsExperiment experiment;
  PreparedJobs prepared;
  JobsOutcome outcome;

  [[nodiscard]] bool feasible() const { return prepared.reasons.empty(); }
  [[nodiscard]] double makespan_s() const { return static_cast<double>(outcome.makespan_ps) * 1e-12; }
  [[nodiscard]] double wait_s(std::size_t job) const;
  /// From its arrival to its end.
  [[nodiscard]] double completion_s(std::size_t job) const;
  /// Time of its steps over that alone on the cluster.
  [[nodiscard]] double slowdown(std::size_t job) const;
  /// Mean time of its steps.
  [[nodiscard]] double step_time_s(std::size_t job) const;
  [[nodiscard]] GpuTimes gpu_times() const;
  /// Share of GPU-time in which jobs have the GPUs, and in which they do work that counts.
  [[nodiscard]] double utilization() const;
  [[nodiscard]] double goodput() const;
  /// Over GPU-time of steps alone.
  [[nodiscard]] double mean_slowdown() const;
  /// Jobs that others slow.
  [[nodiscard]] std::int64_t slowed_jobs() const;
  [[nodiscard]] std::int64_t preemptions() const;
};

/// @throws InputError as prepare_jobs() and simulate_jobs(), with source, line and column
[[nodiscard]] JobsResult simulate_jobs(const JobsExperiment& experiment);

/// The summary for a terminal.
[[nodiscard]] std::string jobs_text(const JobsResult& result);
[[nodiscard]] std::string jobs_json(const JobsResult& result);
/// A row for each job below a row of names.
[[nodiscard]] std::string jobs_csv(const JobsResult& result);
/// A row for each job, for Chrome's and Perfetto's viewers: waiting, and the times that it has its GPUs.
[[nodiscard]] std::string jobs_trace(const JobsResult& result);

}  // namespace orrery
