// Plays several jobs on one cluster by events: arrivals, starts, ends, departures for others. Each picosecond
// of each GPU is accounted for once. It knows JobsModel alone.
#pragma once

#include <cstdint>
#include <vector>

#include "studies/jobs/jobs_model.hpp"

namespace orrery {

/// A stretch of time that a job has its GPUs.
struct JobStint {
  LongPicoseconds begin = 0;
  LongPicoseconds end = 0;
};

struct JobOutcome {
  LongPicoseconds start_ps = 0;  ///< first
  LongPicoseconds end_ps = 0;
  LongPicoseconds wait_ps = 0;     ///< without GPUs, from its arrival on
  LongPicoseconds running_ps = 0;  ///< steps
  LongPicoseconds lost_ps = 0;     ///< checkpoints before it left, and restarts
  std::int64_t preemptions = 0;
  std::int64_t nodes = 0;  ///< of its last stint
  std::int64_t leaves = 0;
  std::vector<JobStint> stints;  ///< kMostStints of all jobs at most
};

struct JobsOutcome {
  static constexpr std::size_t kMostStints = 200'000;
  std::vector<JobOutcome> jobs;
  LongPicoseconds makespan_ps = 0;
  Int128 idle_gpu_ps = 0;          ///< summed over GPUs
  LongPicoseconds blocked_ps = 0;  ///< the next job would fit, were the free GPUs at better places
};

/// Interruptions of all jobs after which a simulation is given up.
inline constexpr std::int64_t kMostPreemptions = 2'000'000;

/// @throws InputError at /preemption if jobs leave for each other more than kMostPreemptions times
[[nodiscard]] JobsOutcome simulate_jobs(const JobsModel& model);

}  // namespace orrery
