// Finds the moment of a step at which a stage holds most, found by going through its passes block by block.
#pragma once

#include "orrery/stage_memory.hpp"
#include "workloads/programs/stages.hpp"

namespace orrery {

struct StagePeak {
  ActivationBytes activations;  ///< kept at that moment
  WorkspaceBytes workspace;     ///< of the block that runs then
  Bytes arrived = 0;            ///< of gradients that come with the backward pass
  PeakMoment moment;
};

/// Returns the number of micro-batches, at most the plan's, from which on more of them do not raise the peak
/// of activations. It matters for stages with several chunks or with split backward passes.
[[nodiscard]] std::int64_t micro_batches_at_peak(const Plan& plan);

/// The first such moment. Passes run one after the other.
[[nodiscard]] StagePeak find_peak(const Stage& stage, const ModelBlocks& blocks, const Plan& plan);

}  // namespace orrery
