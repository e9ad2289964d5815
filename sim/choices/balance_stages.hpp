// Chooses the layers of pipeline stages if a plan leaves them to the simulator (`stage_layers: auto`).
// Callers that simulate an experiment or account for its memory use it before anything else.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/experiment.hpp"
#include "sim/step/memo.hpp"

namespace orrery {

/// Layers of each (virtual) stage as divide_layers() finds them for the prices of block_times(), on the
/// slowest GPU that a stage runs on. Where that does not fit into memory and each rank has one chunk, the
/// same among the divisions that fit, if there are any.
[[nodiscard]] std::vector<std::int64_t> balanced_stage_layers(const Experiment& experiment, Memo& memo);

}  // namespace orrery
