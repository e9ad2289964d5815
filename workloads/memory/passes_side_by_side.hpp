// Counts the memory of two passes that run side by side. run_side_by_side of workloads/programs/ alternates
// their operations, and this file counts their blocks in the same order. Used by stage_peak.cpp.
#pragma once

#include "orrery/stage_memory.hpp"
#include "workloads/programs/stages.hpp"

namespace orrery {

struct PairPeak {
  Bytes above = 0;              ///< more than was held before both
  ActivationBytes activations;  ///< of those, kept by the one less those freed by the other
  WorkspaceBytes workspace;     ///< of the blocks of both that run then
  bool in_backward = false;     ///< the pass whose block begins then
  std::size_t block = 0;        ///< of its chunk
};

/// The first moment at which a forward pass over one chunk and the backward pass of another micro-batch hold
/// most.
[[nodiscard]] PairPeak peak_side_by_side(const Chunk& forward, const Chunk& backward,
                                         const ModelBlocks& blocks);

}  // namespace orrery
