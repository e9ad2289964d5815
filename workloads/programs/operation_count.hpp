// Counts the operations of a pipeline stage's program, to check its length before it is written.
#pragma once

#include <cstdint>

#include "orrery/experiment.hpp"
#include "workloads/communicators/communicator_layout.hpp"
#include "workloads/programs/stages.hpp"

namespace orrery {

/// Operations that the program will have at most.
[[nodiscard]] std::int64_t count_operations(const Experiment& experiment, const CommunicatorLayout& layout,
                                            const ModelBlocks& blocks, const Stage& stage);

}  // namespace orrery
