// Declares the keys of several jobs on one cluster: `jobs`, `placement`, `queueing`, `preemption`.
#include "config/schema/fields.hpp"

namespace orrery {

const std::vector<Field<JobsPolicy>>& jobs_policy_fields() {
  using P = JobsPolicy;
  using T = FieldTable<P>;
  static const std::vector<Field<P>> fields{
      T::choice(
          "placement", {kJobPlacementNames, nullptr, {}},
          +[](P& p, std::size_t i) { p.placement = static_cast<JobPlacement>(i); }, "packed",
          "orrery jobs: below the fewest leaf switches, in the tightest hole, over all leaf switches, or "
          "below the fewest that there can be even if that means to wait"),
      T::choice(
          "queueing", {kJobQueueingNames, nullptr, {}},
          +[](P& p, std::size_t i) { p.queueing = static_cast<JobQueueing>(i); }, "fifo",
          "orrery jobs: first come first served; the least work first; jobs of lower priority leave; turns "
          "of a time slice; later jobs pass where they delay nobody"),
  };
  return fields;
}

const std::vector<Field<JobsPolicy>>& preemption_fields() {
  using P = JobsPolicy;
  using T = FieldTable<P>;
  constexpr double kMostPauseSeconds = 1e6;
  static const std::vector<Field<P>> fields{
      T::number("checkpoint_s", "s", 0, kMostPauseSeconds, &P::checkpoint_s, "60",
                "that a job takes to write a checkpoint before it leaves"),
      T::number("restart_s", "s", 0, kMostPauseSeconds, &P::restart_s, "300", "until it goes on from there"),
      T::number("slice_s", "s", 1, 1e7, &P::slice_s, "3600", "gang: that a job runs before it may leave"),
  };
  return fields;
}

const std::vector<Field<JobSpec>>& job_fields() {
  using J = JobSpec;
  using T = FieldTable<J>;
  static const std::vector<Field<J>> fields{
      T::text("name", &J::name, "shown in reports"),
      T::number("arrival_s", "s", 0, 1e9, &J::arrival_s, "0", "when it is submitted"),
      T::nested("experiment",
                "the job as a file, or as an object with model, plan, stack, ...; its cluster is as much of "
                "the cluster as gpus says"),
      T::integer("gpus", 1, kMaxGpus, &J::gpus, "those of the experiment's own cluster", "that it needs"),
      T::number("step_s", "s", 1e-9, 1e9, &J::step_s, "", "without experiment: time of a step alone"),
      T::integer("steps", 1, 1e12, &J::steps, "", "length of the job"),
      T::number("fabric_share", "", 0, 1, &J::fabric_share, "0",
                "without experiment: share of a step in which it waits for messages between nodes"),
      T::integer("priority", -1e6, 1e6, &J::priority, "0", "jobs of a higher one come first"),
  };
  return fields;
}

const std::vector<Field<JobTraceKeys>>& job_trace_fields() {
  using J = JobTraceKeys;
  using T = FieldTable<J>;
  static const std::vector<Field<J>> fields{
      T::text("trace", &J::trace, "a file of jobs: our columns, or those of Philly, Helios, Acme or PAI"),
      T::integer("first", 1, 1e6, &J::first, "all", "as many of its jobs, in order of arrival"),
      T::number("fabric_share", "", 0, 1, &J::fabric_share, "0", "of those that span several nodes"),
  };
  return fields;
}

}  // namespace orrery
