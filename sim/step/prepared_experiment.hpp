// All that a simulation needs before it starts, made once (prepare(), sim/run/) and handed on: steps, workers
// that keep no step with each other, requests, memory and bounds begin with it.
#pragma once

#include <memory>

#include "orrery/experiment.hpp"
#include "sim/step/machine.hpp"
#include "sim/step/memo.hpp"
#include "workloads/communicators/communicator_layout.hpp"
#include "workloads/lowering/lower.hpp"

namespace orrery {

/// Immutable once it is made.
struct PreparedExperiment {
  Experiment experiment;                   ///< its plan leaves nothing open
  CommunicatorLayout layout;               ///< the communicators of all ranks
  Outline outlined;                        ///< the stages: what they hold, without programs
  std::shared_ptr<const Machine> machine;  ///< the cluster, wired

  /// @param resolved  an experiment whose plan leaves nothing open
  /// @throws InputError where it cannot be laid out, outlined or wired
  PreparedExperiment(Experiment resolved, Memo& memo);
};

/// Prepares the experiment at Detail::layer, where passes cannot be taken for one operation each.
[[nodiscard]] PreparedExperiment in_layers(const PreparedExperiment& prepared, Memo& memo);

}  // namespace orrery
