// Finds the time at which a stage holds most memory, and its memory over time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "sim/metrics/build_report.hpp"

namespace orrery {

/// A run of fewer micro-batches than a step has, with a part that stands for those left out.
struct ShortenedRun {
  std::int64_t all = 0;                  ///< micro-batches of the step, which StageMemory::moment numbers
  std::int64_t simulated = 0;            ///< of those
  std::int64_t copies = 1;               ///< of the model, which share them
  std::span<const RunPart::Ops> part{};  ///< per program; empty where nothing is left out
};

/// The program whose stage holds most, and its moment in the run: counted from the beginning of a step, and
/// from its end. Runs that are shortened alike have the same time for the same of these.
struct PeakPlace {
  std::uint32_t program = 0;
  PeakMoment moment;
  std::int32_t from_begin = -1;  ///< micro-batch of the run; -1: not in it
  std::int32_t from_end = -1;    ///< likewise
};
/// Returns the place of the peak; nullopt if no stage holds anything.
[[nodiscard]] std::optional<PeakPlace> place_of_peak(std::span<const StageMemory> stages,
                                                     const ShortenedRun& run);

/// Holds the start of the work that StageMemory::moment names.
struct PeakTime {
  Picoseconds at_ps = 0;
  bool after_part = false;  ///< so that whatever the part is repeated for comes before it
};
/// Returns the time of the peak on the stage that holds most; nullopt if the run has no such operation.
[[nodiscard]] std::optional<PeakTime> time_of_peak(const RunView& run, const ShortenedRun& shortened);

/// Returns the memory of a GPU of each program, from each listed time on. The first point is at time 0.
[[nodiscard]] std::vector<MemoryTimeline> memory_over_time(const RunView& run);

/// Returns the memory of each pipeline stage. If replicas of unequal batches give it several programs, the
/// one that holds most counts.
[[nodiscard]] std::vector<MemoryTimeline> memory_of_stages(const RunView& run, std::size_t stages);

}  // namespace orrery
