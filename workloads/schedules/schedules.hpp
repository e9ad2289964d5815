// Declares pipeline schedules: in which order a pipeline rank runs the forward and backward passes of its
// micro-batches. One schedule per file; `pipeline_schedules()` is the menu. They know stages and
// micro-batches by number only, never durations, layers or messages.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/menu.hpp"
#include "orrery/plan.hpp"
#include "workloads/schedules/pass.hpp"
#include "workloads/schedules/placement.hpp"

namespace orrery {

struct ScheduleShape {
  std::int64_t stages = 1;         ///< pipeline ranks p
  std::int64_t micro_batches = 1;  ///< m
  std::int64_t chunks = 1;         ///< model chunks per rank v, of all copies of the model
  std::int64_t group = 0;          ///< micro-batches that go through a chunk in a row; 0: p
  std::int64_t warm_up = 0;        ///< Plan::warmup_micro_batches; 0: as the schedule says
  std::int64_t ahead = 0;  ///< forward passes more in the warm-up of each stage than the schedule says
};

/// Describes how a schedule repeats once the pipeline is full, in micro-batches of one copy of the model.
struct SteadyState {
  std::int64_t period = 1;
  std::int64_t warm_up = 0;  ///< before the first period of the first stage
  std::int64_t alike = 2;    ///< periods that must shift alike; an operation waits for none so long ago
};

inline constexpr std::int64_t kAnyChunks = 0;

/// Says why a schedule cannot be run in a shape.
struct ScheduleObstacle {
  std::string_view key;  ///< of the plan
  std::string found;
  std::string allowed;
};

struct PipelineSchedule : MenuEntry {
  /// Passes of pipeline rank `stage` in order. Between any two neighbouring virtual stages messages
  /// must be received in the order in which they are sent.
  std::vector<Pass> (*order)(const ScheduleShape& shape, std::int64_t stage);
  /// Returns the most micro-batches whose activations a rank with one chunk keeps at a time. If the backward
  /// pass is split, they are kept until the gradients of the weights. nullptr: ranks have more chunks.
  std::int64_t (*kept)(const ScheduleShape& shape, std::int64_t stage);
  SteadyState (*steady_state)(const ScheduleShape& shape);
  ChunkPlacement placement = ChunkPlacement::wraps_around;
  std::int64_t chunks = 1;  ///< per rank, of one copy of the model; or kAnyChunks
  BackwardSplit split = BackwardSplit::whole;
  /// Returns the reason that rules a shape out, if any. nullptr: every shape is allowed.
  std::optional<ScheduleObstacle> (*obstacle)(const ScheduleShape& shape) = nullptr;
  bool sets_warm_up = false;  ///< ScheduleShape::warm_up means something
};

[[nodiscard]] std::span<const PipelineSchedule> pipeline_schedules();
/// The schedule of that name, or nullptr.
[[nodiscard]] const PipelineSchedule* find_pipeline_schedule(std::string_view name);

/// The one that a plan names.
[[nodiscard]] const PipelineSchedule& schedule_of(const Plan& plan);
/// Returns how the backward passes of a plan are split.
[[nodiscard]] BackwardSplit splits_backward(const Plan& plan);
[[nodiscard]] ScheduleShape schedule_shape(const Plan& plan);
[[nodiscard]] ChunkMap chunk_map(const Plan& plan);
/// Returns the number of layers of each virtual stage of one copy of the model, in model order.
[[nodiscard]] std::vector<std::int64_t> layers_per_virtual_stage(const Plan& plan, std::int64_t layers);
/// Layers of each virtual stage where they do not divide: one more or less. The last stage, which has the
/// head, has one fewer, then the first ones, which keep most micro-batches. `stages` is at most `layers` + 2.
[[nodiscard]] std::vector<std::int64_t> deal_layers(std::int64_t layers, std::int64_t stages);
/// Returns the reason that rules the plan's schedule out, if any.
[[nodiscard]] std::optional<ScheduleObstacle> schedule_obstacle(const Plan& plan);

}  // namespace orrery
