// Pipeline schedules: in which order a pipeline rank runs the forward and backward passes of its
// micro-batches. One schedule per file; `pipeline_schedules()` is the menu. They know stages and
// micro-batches by number only, never durations, layers or messages.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "orrery/menu.hpp"
#include "orrery/plan.hpp"
#include "workloads/schedules/pass.hpp"

namespace orrery {

struct ScheduleShape {
  std::int64_t stages = 1;         ///< pipeline ranks p
  std::int64_t micro_batches = 1;  ///< m
  std::int64_t chunks = 1;         ///< model chunks per rank v
};

/// How a schedule repeats once the pipeline is full, in micro-batches.
struct SteadyState {
  std::int64_t period = 1;
  std::int64_t warm_up = 0;  ///< before the first period of the first stage
  std::int64_t alike = 2;    ///< periods that must shift alike; an operation waits for none two periods ago
};

struct PipelineSchedule : MenuEntry {
  /// Passes of pipeline rank `stage` in order. Between any two neighbouring virtual stages messages
  /// must be received in the order in which they are sent.
  std::vector<Pass> (*order)(const ScheduleShape& shape, std::int64_t stage);
  /// Of how many micro-batches a rank with one chunk keeps the activations at a time, at most; where the
  /// backward pass is split, until the gradients of the weights.
  std::int64_t (*kept)(const ScheduleShape& shape, std::int64_t stage);
  SteadyState (*steady_state)(const ScheduleShape& shape);
  /// May be given more than one chunk per rank. The ranks take them in turn, so the last rank sends to the
  /// first.
  bool interleaved = false;
  bool splits_backward = false;  ///< into the gradients of inputs and those of weights
};

[[nodiscard]] std::span<const PipelineSchedule> pipeline_schedules();
/// The schedule of that name, or nullptr.
[[nodiscard]] const PipelineSchedule* find_pipeline_schedule(std::string_view name);

/// The one that a plan names.
[[nodiscard]] const PipelineSchedule& schedule_of(const Plan& plan);
/// Whether the backward passes of a plan are split.
[[nodiscard]] bool splits_backward(const Plan& plan);
[[nodiscard]] ScheduleShape schedule_shape(const Plan& plan);

}  // namespace orrery
