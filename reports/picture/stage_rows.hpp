// Collects the contents of pictures: for one GPU of each pipeline stage its passes, its communication and its
// memory in a span of time. Every form of picture reads it, so that they agree.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "orrery/rank_grid.hpp"
#include "orrery/report.hpp"
#include "reports/activity.hpp"
#include "sim/metrics/build_report.hpp"

namespace orrery {

/// Describes a range from one time to a later one, both from the beginning of the run.
struct TimeWindow {
  Picoseconds from_ps = 0;
  Picoseconds to_ps = 0;

  [[nodiscard]] Picoseconds length_ps() const { return to_ps - from_ps; }
};

struct ActivitySpan {
  Activity activity{};
  Picoseconds start_ps = 0;
  Picoseconds finish_ps = 0;

  [[nodiscard]] Picoseconds length_ps() const { return finish_ps - start_ps; }
};

/// A pass of a micro-batch, as far as it lies in the window.
struct DrawnPass {
  Phase phase{};                  ///< as PassSpan::phase
  std::int32_t micro_batch = -1;  ///< -1: of none
  std::int32_t chunk = 0;
  std::vector<ActivitySpan> spans;  ///< that the GPU computes, in order of time; at least one
};

struct StageRow {
  std::uint32_t stage = 0;
  std::uint32_t rank = 0;         ///< the GPU that is drawn for the stage
  std::string name;               ///< "stage 0"
  std::string note;               ///< below the name: "rank 0"
  std::vector<DrawnPass> passes;  ///< in order of time
  /// Times by activity, from tensor to offload, at which any such communication of the GPU is in flight. In
  /// order of time, without overlaps.
  std::array<std::vector<ActivitySpan>, kActivityCount> lanes;
  MemoryTimeline memory;  ///< of the whole run, where it was asked for
  std::int32_t chunks = 1;

  /// That the GPU computes in the window.
  [[nodiscard]] Picoseconds busy_ps() const;
};

/// Holds the contents and the captions of a picture.
struct DrawnRun {
  std::vector<StageRow> rows;
  TimeWindow window;
  Picoseconds makespan_ps = 0;
  std::string name;        ///< of the experiment; any text
  std::string whole;       ///< "a step of 1.2 s"
  std::string subtitle;    ///< the meaning of rows
  std::string explained;   ///< a sentence on the contents of a row
  std::string waiting;     ///< the meaning of empty parts of a row
  Bytes memory_limit = 0;  ///< 0: unknown
  bool has_memory = false;
};

/// Most stages that are drawn where none are named.
inline constexpr std::uint32_t kMostStages = 64;

/// Returns the stages to draw. `wanted` is in ascending order; empty: all stages, or of more than kMostStages
/// a selection that lies evenly between the first and the last.
/// @throws InputError for one that does not exist
[[nodiscard]] std::vector<std::uint32_t> drawn_stages(std::span<const std::uint32_t> wanted,
                                                      std::uint32_t stages);

/// The window of a run of that length: up to its end where `to_ps` is 0.
/// @throws InputError where it is empty or begins behind the end of the run
[[nodiscard]] TimeWindow drawn_window(Picoseconds from_ps, Picoseconds to_ps, Picoseconds makespan_ps);

/// Returns a row for the first rank of each stage.
[[nodiscard]] std::vector<StageRow> stage_rows(const RunView& run, const RankGrid& grid,
                                               std::span<const std::uint32_t> stages, TimeWindow window,
                                               bool with_memory);

}  // namespace orrery
