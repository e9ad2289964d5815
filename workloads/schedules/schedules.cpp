#include "workloads/schedules/schedules.hpp"

#include <algorithm>
#include <array>

#include "workloads/schedules/orders.hpp"

namespace orrery {

std::span<const PipelineSchedule> pipeline_schedules() {
  static constexpr std::array<PipelineSchedule, 5> kSchedules{{
      {{"sequential", "One micro-batch at a time through all stages and back (naive model parallelism)."},
       sequential_order,
       sequential_kept,
       one_by_one},
      {{"gpipe", "All forward passes, then all backward passes in reverse (Huang et al. 2019)."},
       gpipe_order,
       gpipe_kept,
       one_by_one},
      {{"1f1b", "After a warm-up, one forward and one backward pass in turn (PipeDream-flush)."},
       one_f_one_b_order,
       one_f_one_b_kept,
       one_by_one},
      {{"interleaved-1f1b", "1F1B over several model chunks per rank (Narayanan et al. 2021)."},
       interleaved_order,
       one_f_one_b_kept,
       interleaved_rhythm,
       true},
      {{"zb-h1", "1F1B that puts off gradients of weights until it would idle (Qi et al. 2024)."},
       zb_h1_order,
       zb_h1_kept,
       one_by_one,
       false,
       true},
  }};
  return kSchedules;
}

const PipelineSchedule* find_pipeline_schedule(std::string_view name) {
  const auto menu = pipeline_schedules();
  const auto found = std::ranges::find(menu, name, &PipelineSchedule::name);
  return found == menu.end() ? nullptr : &*found;
}

const PipelineSchedule& schedule_of(const Plan& plan) {
  return *find_pipeline_schedule(plan.pipeline_schedule);
}

bool splits_backward(const Plan& plan) { return schedule_of(plan).splits_backward; }

ScheduleShape schedule_shape(const Plan& plan) {
  return {plan.pipeline_parallel, plan.micro_batches(), plan.virtual_stages};
}

}  // namespace orrery
