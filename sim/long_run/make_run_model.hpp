// Makes the numbers of a training run from an experiment: steps and what slows them by simulation, failures
// by the components of its cluster, checkpoints by its memory, links and storage.
#pragma once

#include <functional>

#include "orrery/experiment.hpp"
#include "orrery/report.hpp"
#include "sim/long_run/checkpoint_costs.hpp"
#include "sim/long_run/run_model.hpp"

namespace orrery {

/// Simulates a step.
using SimulateStep = std::function<Report(const Experiment&)>;

/// A run model, and what it was made from.
struct PreparedRun {
  RunModel model;
  Report step;  ///< of a step with the whole batch
  CheckpointSize checkpoint;
  bool writes_checkpoints = false;
};

/// @throws InputError for an experiment without `run`, a run without a length, a ramp that is none, or a
/// policy that its plan does not allow; and as simulate()
[[nodiscard]] PreparedRun prepare_run(const Experiment& experiment, const SimulateStep& simulate);

}  // namespace orrery
