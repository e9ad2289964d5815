// The moment of a step at which a stage holds most, found by going through its passes block by block.
#pragma once

#include "orrery/stage_memory.hpp"
#include "workloads/programs/stages.hpp"

namespace orrery {

struct StagePeak {
  ActivationBytes activations;  ///< kept at that moment
  WorkspaceBytes workspace;     ///< of the block that runs then
  PeakMoment moment;
};

/// So many micro-batches, at most those of the plan, that stages of several chunks, or of split backward
/// passes, keep no more activations with more of them.
[[nodiscard]] std::int64_t micro_batches_at_peak(const Plan& plan);

/// The first such moment. Passes run one after the other.
[[nodiscard]] StagePeak find_peak(const Stage& stage, const ModelBlocks& blocks, const Plan& plan);

}  // namespace orrery
