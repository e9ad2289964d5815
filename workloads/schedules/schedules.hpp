// Pipeline schedules: in which order a pipeline rank runs the forward and backward passes of its
// micro-batches. One schedule per file; `pipeline_schedules()` is the menu. They know stages and
// micro-batches by number only, never durations, layers or messages.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "orrery/menu.hpp"

namespace orrery {

/// One pass of one micro-batch through one model chunk of this rank.
struct Pass {
  enum class Kind : std::uint8_t { forward, backward };
  Kind kind = Kind::forward;
  std::int32_t micro_batch = 0;
  std::int32_t chunk = 0;  ///< virtual stage chunk * stages + stage
};

struct ScheduleShape {
  std::int64_t stages = 1;         ///< pipeline ranks p
  std::int64_t micro_batches = 1;  ///< m
  std::int64_t chunks = 1;         ///< model chunks per rank v
};

struct PipelineSchedule : MenuEntry {
  /// Passes of pipeline rank `stage` in order. Between any two neighbouring virtual stages messages
  /// must be received in the order in which they are sent.
  std::vector<Pass> (*order)(const ScheduleShape& shape, std::int64_t stage);
  /// Of how many micro-batches a rank with one chunk keeps the activations at a time, at most.
  std::int64_t (*kept)(const ScheduleShape& shape, std::int64_t stage);
  bool interleaved = false;  ///< may be given more than one chunk per rank
};

[[nodiscard]] std::span<const PipelineSchedule> pipeline_schedules();
/// The schedule of that name, or nullptr.
[[nodiscard]] const PipelineSchedule* find_pipeline_schedule(std::string_view name);

}  // namespace orrery
