// Computes the memory of a stage on one GPU at its peak.
#pragma once

#include "orrery/stage_memory.hpp"
#include "workloads/programs/stages.hpp"

namespace orrery {

/// Computes memory as Rajbhandari et al. 2020 for parameters, gradients and Adam's states (2 + 2 + 12 bytes a
/// parameter in mixed precision, 4 + 4 + 8 in 32 bits); activations and workspace by find_peak(). The
/// synchronisation of replicas adds its states to the optimizer's, and received models to the workspace.
[[nodiscard]] StageMemory memory_of(const Stage& stage, const Experiment& experiment,
                                    const CommunicatorLayout& layout, const ModelBlocks& blocks);

}  // namespace orrery
