#include "workloads/schedules/schedules.hpp"

#include <algorithm>
#include <array>

#include "workloads/schedules/orders.hpp"

namespace orrery {

std::span<const PipelineSchedule> pipeline_schedules() {
  static constexpr std::array<PipelineSchedule, 11> kSchedules{{
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
       one_by_one,
       ChunkPlacement::wraps_around,
       1,
       BackwardSplit::whole,
       one_f_one_b_obstacle,
       true},
      {{"interleaved-1f1b", "1F1B over several model chunks per rank (Narayanan et al. 2021)."},
       interleaved_order,
       one_f_one_b_kept,
       interleaved_period,
       ChunkPlacement::wraps_around,
       kAnyChunks,
       BackwardSplit::whole,
       interleaved_obstacle,
       true},
      {{"zb-h1", "1F1B that puts off gradients of weights until it would idle (Qi et al. 2024)."},
       zb_h1_order,
       zb_h1_kept,
       one_by_one,
       ChunkPlacement::wraps_around,
       1,
       BackwardSplit::halves},
      {{"zb-h2", "ZB-H1 with twice the warm-up and activations, and no idle time (Qi et al. 2024)."},
       zb_h2_order,
       zb_h2_kept,
       after_two_rounds,
       ChunkPlacement::wraps_around,
       1,
       BackwardSplit::halves},
      {{"zb-v", "Two chunks per rank in a V, no idle time with the memory of 1F1B (Qi et al. 2024)."},
       zb_v_order,
       nullptr,
       after_two_rounds,
       ChunkPlacement::v_shape,
       2,
       BackwardSplit::halves},
      {{"v-half", "Two chunks per rank in a V, half the activations of 1F1B (Qi et al. 2024)."},
       v_half_order,
       nullptr,
       after_two_rounds,
       ChunkPlacement::v_shape,
       2,
       BackwardSplit::halves},
      {{"v-min", "Two chunks per rank in a V, a third of the activations of 1F1B (Qi et al. 2024)."},
       v_min_order,
       nullptr,
       after_two_rounds,
       ChunkPlacement::v_shape,
       2,
       BackwardSplit::halves},
      {{"dualpipe", "Two copies of the model in opposite directions (DeepSeek-AI 2024)."},
       dualpipe_order,
       nullptr,
       after_two_rounds,
       ChunkPlacement::bidirectional,
       1,
       BackwardSplit::some,
       dualpipe_obstacle},
      {{"dualpipe-v", "One half of DualPipe: two chunks per rank in a V (Qi et al. 2025)."},
       dualpipe_v_order,
       nullptr,
       after_two_rounds,
       ChunkPlacement::v_shape,
       2,
       BackwardSplit::some,
       dualpipe_v_obstacle},
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

BackwardSplit splits_backward(const Plan& plan) { return schedule_of(plan).split; }

/// A backward pass beside the forward pass before it must not wait for that.
static bool runs_ahead(const Plan& plan) {
  return plan.overlap_expert_parallel && splits_backward(plan) == BackwardSplit::whole &&
         schedule_of(plan).sets_warm_up;
}

ScheduleShape schedule_shape(const Plan& plan) {
  return {plan.pipeline_parallel,      plan.micro_batches(),      plan.virtual_stages * plan.model_copies(),
          plan.micro_batch_group_size, plan.warmup_micro_batches, runs_ahead(plan) ? 1 : 0};
}

ChunkMap chunk_map(const Plan& plan) {
  const ScheduleShape shape = schedule_shape(plan);
  return {schedule_of(plan).placement, shape.stages, shape.chunks};
}

std::optional<ScheduleObstacle> schedule_obstacle(const Plan& plan) {
  const auto obstacle = schedule_of(plan).obstacle;
  return obstacle == nullptr ? std::nullopt : obstacle(schedule_shape(plan));
}

std::vector<std::int64_t> deal_layers(std::int64_t layers, std::int64_t stages) {
  const std::int64_t most = (layers + stages - 1) / stages;
  std::vector<std::int64_t> dealt(static_cast<std::size_t>(stages), most);
  const std::int64_t fewer = most * stages - layers;
  if (fewer > 0) --dealt.back();
  for (std::int64_t stage = 0; stage + 1 < fewer; ++stage) --dealt[static_cast<std::size_t>(stage)];
  return dealt;
}

std::vector<std::int64_t> layers_per_virtual_stage(const Plan& plan, std::int64_t layers) {
  if (!plan.stage_layers.empty()) return plan.stage_layers;
  const std::int64_t count = plan.pipeline_parallel * plan.virtual_stages;
  return std::vector<std::int64_t>(static_cast<std::size_t>(count), layers / count);
}

}  // namespace orrery
