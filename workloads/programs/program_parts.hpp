// Holds the parts that the programs of a workload share: the host's work, and fused passes already written.
#pragma once

#include <cstdint>
#include <map>

#include "orrery/experiment.hpp"
#include "workloads/programs/fused_pass.hpp"

namespace orrery {

struct ProgramParts {
  ProgramParts(const Experiment& experiment, Workload& workload);

  bool hosted;                  ///< the software's host costs are known
  bool fused_passes;            ///< a pass is one operation where nothing meets it half-way
  std::uint32_t step_work = 0;  ///< of the host: before a step, a pass and the optimizer
  std::uint32_t pass_work = 0;
  std::uint32_t wait_work = 0;
  std::map<StepLists, FusedPass> passes;  ///< as few operations, by the steps they consist of
};

}  // namespace orrery
