// Sums the bytes that ranks with copies of weights send each other in a step, for bounds of its time.
// DataParallel decides when and in how many messages they are sent.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/experiment.hpp"
#include "workloads/communicators/communicator_layout.hpp"
#include "workloads/programs/stages.hpp"

namespace orrery {

/// A collective that goes through the weights of a stage, as one message, and how often it does at least.
struct WeightMovement {
  std::uint16_t slot = 0;
  Message message;
  std::int64_t times = 0;
  bool exposed = false;  ///< nothing of the stage computes meanwhile
};

/// Returns the movements of one step: gathers on Stream::gather and sums on Stream::data. Empty if replicas
/// are synchronised by anything but plain sums of their gradients.
[[nodiscard]] std::vector<WeightMovement> weight_movements(const Experiment& experiment,
                                                           const CommunicatorLayout& layout,
                                                           const Stage& stage);

}  // namespace orrery
