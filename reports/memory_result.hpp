// What the result object says of memory: per stage, by category, over time.
#pragma once

#include <nlohmann/json.hpp>

#include "orrery/report.hpp"

namespace orrery {

/// 1e9 bytes.
[[nodiscard]] inline double gigabytes(Bytes bytes) { return static_cast<double>(bytes) / 1e9; }

/// Of the stage that has most.
[[nodiscard]] Bytes most_memory(const Report& report, Bytes (StageMemory::*bytes)() const);

/// A list of objects, one for each stage.
[[nodiscard]] nlohmann::ordered_json memory_per_stage(const Report& report);
/// The same over time; discarded where it was not asked for.
[[nodiscard]] nlohmann::ordered_json memory_timeline(const Report& report);

}  // namespace orrery
