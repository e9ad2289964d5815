// Sums the kernels of programs, for the tests of workloads/.
#pragma once

#include "orrery/workload.hpp"

namespace orrery::test {

/// Sum over all ranks and operations of the FLOPs of their kernels, of recomputation or of the rest.
inline Int128 flops_of_programs(const Workload& workload, bool recompute) {
  Int128 sum = 0;
  for (const std::uint32_t program : workload.program_of_rank) {
    for (const Op& op : workload.programs[program].ops) {
      if (op.kind == Op::Kind::compute && (op.phase == Phase::recompute) == recompute)
        sum += workload.kernel_sequences[op.work].flops;
    }
  }
  return sum;
}

}  // namespace orrery::test
