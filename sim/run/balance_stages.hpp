// Chooses the layers of pipeline stages where a plan leaves them to the simulator (`stage_layers: auto`).
// Used by whoever simulates an experiment or accounts for its memory, before anything else.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/experiment.hpp"
#include "sim/run/memo.hpp"

namespace orrery {

/// Layers of each (virtual) stage as divide_layers() finds them for the prices of block_times(), on the
/// slowest GPU that a stage runs on. Where that does not fit into memory and each rank has one chunk, the
/// same among the divisions that fit, if there are any.
[[nodiscard]] std::vector<std::int64_t> balanced_stage_layers(const Experiment& experiment, Memo& memo);

/// `experiment` with the layers of its stages chosen. Requires Plan::balance_stages.
[[nodiscard]] Experiment with_balanced_stages(const Experiment& experiment, Memo& memo);

/// `use` of the experiment, its stages balanced where its plan says so.
template <class Use>
auto with_concrete_stages(const Experiment& experiment, Memo& memo, Use use) {
  return experiment.plan.balance_stages ? use(with_balanced_stages(experiment, memo)) : use(experiment);
}

}  // namespace orrery
