// Compares the activations that the passes of a program keep and free with the memory of its stage.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>

#include "orrery/workload.hpp"

namespace orrery::test {

/// Checks activations. If passes run one after the other, the kept and freed memory adds up to nothing, and
/// its peak is the memory of the stage, to the byte.
inline void check_activations(const Workload& w) {
  for (std::size_t p = 0; p < w.programs.size(); ++p) {
    CAPTURE(p);
    const StageMemory& memory = w.stage_memory[p];
    Bytes held = 0;
    Bytes peak = 0;
    for (const Op& op : w.programs[p].ops) {
      held += op.memory_at_start;
      peak = std::max(peak, held);
      held += op.memory_at_finish;
    }
    CHECK(held == 0);
    CHECK(peak == memory.total() - memory.standing);
  }
}

}  // namespace orrery::test
