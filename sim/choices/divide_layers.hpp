// Divides the layers of a model over the stages of a pipeline, in their order. Knows numbers only: the time
// of a stage for a run of layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "orrery/units.hpp"

namespace orrery {

/// Stands for the time of layers that a stage has no memory for.
inline constexpr Picoseconds kNoRoom = std::numeric_limits<Picoseconds>::max();

/// Returns the time that stage `stage` needs for the layers [from, to), or kNoRoom. It does not fall if
/// layers are added.
using StageTime = std::function<Picoseconds(std::size_t stage, std::int64_t from, std::int64_t to)>;

/// Returns layers per stage, some perhaps 0, so that the slowest stage is as fast as possible; of such
/// divisions one whose second slowest stage is as fast as possible, and so on. Of divisions with equal times,
/// it is the one that gives the first stage most layers, then the second, and so on. Empty if each has a
/// stage without room.
///
/// Dynamic programming from the last stage back: the times of stages, in descending order, compare alike with
/// one more stage added to both, so the best division of the later stages is part of the best of all.
[[nodiscard]] std::vector<std::int64_t> divide_layers(std::int64_t layers, std::size_t stages,
                                                      const StageTime& time);

}  // namespace orrery
