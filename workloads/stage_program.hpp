// Writes the program of one pipeline stage: its passes in the order of the schedule, messages between
// stages, and the data-parallel hooks around each block.
#pragma once

#include "orrery/experiment.hpp"
#include "workloads/stages.hpp"
#include "workloads/synchronization/sync_layout.hpp"

namespace orrery {

[[nodiscard]] Program write_stage_program(const Experiment& experiment, const SyncLayout& layout,
                                          const ModelBlocks& blocks, const Stage& stage, Workload& workload);

/// Operations that program will have at most, to check before it is written.
[[nodiscard]] std::int64_t count_operations(const Experiment& experiment, const SyncLayout& layout,
                                            const ModelBlocks& blocks, const Stage& stage);

}  // namespace orrery
