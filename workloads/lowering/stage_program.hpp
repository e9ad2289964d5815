// Writes the program of one pipeline stage: its passes in the order of the schedule, messages between
// stages, and the data-parallel hooks around each block.
#pragma once

#include "orrery/experiment.hpp"
#include "workloads/communicators/communicator_layout.hpp"
#include "workloads/programs/program_parts.hpp"
#include "workloads/programs/stages.hpp"

namespace orrery {

[[nodiscard]] Program write_stage_program(const Experiment& experiment, const CommunicatorLayout& layout,
                                          const ModelBlocks& blocks, const Stage& stage, Workload& workload,
                                          ProgramParts& parts);

}  // namespace orrery
