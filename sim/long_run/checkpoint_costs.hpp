// Prices checkpoints: their bytes by the memory model, and how long links and storage take for them.
#pragma once

#include "orrery/experiment.hpp"
#include "orrery/long_run.hpp"
#include "orrery/report.hpp"
#include "sim/long_run/run_model.hpp"

namespace orrery {

/// Bytes of a checkpoint, and how they are spread.
struct CheckpointSize {
  Bytes bytes = 0;           ///< of all, each once
  std::int64_t writers = 1;  ///< GPUs that write a part each
  Bytes writer_bytes = 0;    ///< of one of them
  Bytes gpu_bytes = 0;       ///< that every GPU needs to go on: its weights and its part of the states
};

/// @param step  report of a step of the experiment
[[nodiscard]] CheckpointSize checkpoint_size(const Experiment& experiment, const Report& step,
                                             const CheckpointPolicy& policy);

/// Returns the rates of the storage, with usual ones where the cluster gives none.
[[nodiscard]] Storage storage_of(const Cluster& cluster);

/// Returns the stall, the times to save and load and which failures each level outlives; the interval is left
/// at 0.
[[nodiscard]] CheckpointModel checkpoint_costs(const Experiment& experiment, const CheckpointSize& size,
                                               const CheckpointPolicy& policy, Picoseconds step_ps);

}  // namespace orrery
