// What the passes of a program keep and free, against the formulas of its stage.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>

#include "orrery/workload.hpp"

namespace orrery::test {

/// What passes keep and free adds up to nothing, and is at its peak what the formulas say of the stage.
inline void check_activations(const Workload& w) {
  for (std::size_t p = 0; p < w.programs.size(); ++p) {
    CAPTURE(p);
    Bytes held = 0, peak = 0;
    for (const Op& op : w.programs[p].ops) {
      held += op.memory_delta;
      peak = std::max(peak, held);
    }
    CHECK(held == 0);
    CHECK(peak <= w.stage_memory[p].activations + w.stage_memory[p].workspace);
    CHECK(peak >= w.stage_memory[p].activations);
  }
}

}  // namespace orrery::test
