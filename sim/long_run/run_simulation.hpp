// Plays one repetition of a training run by events: steps, checkpoints, failures, recoveries. Each picosecond
// is accounted for once. It knows RunModel alone.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "sim/long_run/failure_stream.hpp"
#include "sim/long_run/run_model.hpp"

namespace orrery {

/// A stretch of a run with one use.
struct RunSpan {
  TimeUse use{};  ///< useful: steps, whether they count in the end or not
  LongPicoseconds begin = 0;
  LongPicoseconds end = 0;
};

struct RunOutcome {
  bool ends = true;  ///< false: it gave up, at `steps` with the times until then
  LongPicoseconds wall_ps = 0;
  std::array<LongPicoseconds, kTimeUseCount> time_ps{};  ///< by TimeUse; the sum is wall_ps
  double steps = 0;                                      ///< that count, in those of all replicas
  std::int64_t interruptions = 0;  ///< after which training started again or went on without a replica
  std::int64_t checkpoints = 0;
  std::vector<std::int64_t> failures;  ///< that struck, by kind of the model
  std::vector<RunSpan> spans;          ///< where they were asked for, kMostSpans at most

  static constexpr std::size_t kMostSpans = 100'000;
};

/// Says when a run is given up: after so many interruptions in a row without a step gained, or in all.
inline constexpr std::int64_t kMostVainInterruptions = 2000;
inline constexpr std::int64_t kMostInterruptions = 500'000;

/// @param keeps_spans  fills RunOutcome::spans
[[nodiscard]] RunOutcome simulate_run(const RunModel& model, std::uint64_t seed, std::uint64_t repetition,
                                      bool keeps_spans = false);

}  // namespace orrery
