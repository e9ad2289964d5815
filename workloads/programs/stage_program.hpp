// Writes the program of one pipeline stage: its passes in the order of the schedule, messages between
// stages, and the data-parallel hooks around each block.
#pragma once

#include <cstdint>
#include <map>

#include "orrery/experiment.hpp"
#include "workloads/programs/stages.hpp"
#include "workloads/programs/whole_pass.hpp"
#include "workloads/sync/sync_layout.hpp"

namespace orrery {

/// What the programs of a workload share.
struct ProgramParts {
  ProgramParts(const Experiment& experiment, Workload& workload);

  bool hosted;                  ///< the software's host costs are known
  bool whole_passes;            ///< a pass is one operation where nothing meets it half-way
  std::uint32_t step_work = 0;  ///< of the host: before a step, a pass and the optimizer
  std::uint32_t pass_work = 0;
  std::uint32_t wait_work = 0;
  std::map<StepLists, WholePass> passes;  ///< as few operations, by the steps they consist of
};

[[nodiscard]] Program write_stage_program(const Experiment& experiment, const SyncLayout& layout,
                                          const ModelBlocks& blocks, const Stage& stage, Workload& workload,
                                          ProgramParts& parts);

/// Operations that program will have at most, to check before it is written.
[[nodiscard]] std::int64_t count_operations(const Experiment& experiment, const SyncLayout& layout,
                                            const ModelBlocks& blocks, const Stage& stage);

}  // namespace orrery
