// Writes the program of one pipeline stage: its passes in the order of the schedule, messages between
// stages, and the data-parallel hooks around each block.
#pragma once

#include <map>

#include "orrery/experiment.hpp"
#include "workloads/stages.hpp"
#include "workloads/synchronization/sync_layout.hpp"
#include "workloads/whole_pass.hpp"

namespace orrery {

/// Passes as few operations, by the steps they consist of: stages share them.
using WholePasses = std::map<StepLists, WholePass>;

[[nodiscard]] Program write_stage_program(const Experiment& experiment, const SyncLayout& layout,
                                          const ModelBlocks& blocks, const Stage& stage, Workload& workload,
                                          WholePasses& whole_passes);

/// Operations that program will have at most, to check before it is written.
[[nodiscard]] std::int64_t count_operations(const Experiment& experiment, const SyncLayout& layout,
                                            const ModelBlocks& blocks, const Stage& stage);

}  // namespace orrery
