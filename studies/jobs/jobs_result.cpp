#include "studies/jobs/jobs_result.hpp"

namespace orrery {
namespace {

double seconds_of(LongPicoseconds time) { return static_cast<double>(time) * 1e-12; }

double share_of(Int128 part, Int128 whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

}  // namespace

double JobsResult::wait_s(std::size_t job) const { return seconds_of(outcome.jobs[job].wait_ps); }

double JobsResult::completion_s(std::size_t job) const {
  return seconds_of(outcome.jobs[job].end_ps - prepared.model.jobs[job].arrival_ps);
}

double JobsResult::slowdown(std::size_t job) const {
  return static_cast<double>(outcome.jobs[job].running_ps) /
         static_cast<double>(prepared.model.jobs[job].work_ps);
}

double JobsResult::step_time_s(std::size_t job) const {
  return seconds_of(outcome.jobs[job].running_ps) / static_cast<double>(experiment.jobs()[job].steps);
}

GpuTimes JobsResult::gpu_times() const {
  GpuTimes times;
  times.idle_ps = outcome.idle_gpu_ps;
  for (std::size_t job = 0; job < outcome.jobs.size(); ++job) {
    const ModelJob& of = prepared.model.jobs[job];
    times.useful_ps += of.work_ps * of.gpus;
    times.contention_ps += (outcome.jobs[job].running_ps - of.work_ps) * of.gpus;
    times.lost_ps += outcome.jobs[job].lost_ps * of.gpus;
  }
  return times;
}

double JobsResult::utilization() const {
  const GpuTimes times = gpu_times();
  return 1 - share_of(times.idle_ps, times.sum());
}

double JobsResult::goodput() const {
  const GpuTimes times = gpu_times();
  return share_of(times.useful_ps, times.sum());
}

double JobsResult::mean_slowdown() const {
  const GpuTimes times = gpu_times();
  return 1 + share_of(times.contention_ps, times.useful_ps);
}

std::int64_t JobsResult::slowed_jobs() const {
  std::int64_t count = 0;
  for (std::size_t job = 0; job < outcome.jobs.size(); ++job)
    count += outcome.jobs[job].running_ps > prepared.model.jobs[job].work_ps ? 1 : 0;
  return count;
}

std::int64_t JobsResult::preemptions() const {
  std::int64_t count = 0;
  for (const JobOutcome& job : outcome.jobs) count += job.preemptions;
  return count;
}

JobsResult simulate_jobs(const JobsExperiment& experiment) {
  try {
    PreparedJobs prepared = prepare_jobs(experiment);
    JobsOutcome outcome = simulate_jobs(prepared.model);
    return {experiment, std::move(prepared), std::move(outcome)};
  } catch (const InputError& error) {
    throw experiment.located(error);
  }
}

}  // namespace orrery
