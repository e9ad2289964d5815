// Computes when the host has issued the operations of the GPU.
#pragma once

#include <limits>

#include "orrery/workload.hpp"

namespace orrery {

/// Adds a duration >= 0 and stops at the largest 64-bit value; the engine refuses much shorter times.
[[nodiscard]] constexpr Picoseconds capped_sum(Picoseconds a, Picoseconds duration) {
  Picoseconds sum = 0;
  return __builtin_add_overflow(a, duration, &sum) ? std::numeric_limits<Picoseconds>::max() : sum;
}

/// Earliest start of an operation whose issue begins `issued` after the host was last free. An operation of n
/// kernels, whose issue ends at e and which takes g, starts when its first kernel is issued, and not
/// earlier than e - g (n-1)/n, so that its last kernel does not run before it is issued.
[[nodiscard]] Picoseconds earliest_start(const KernelSequence& work, Picoseconds duration,
                                         Picoseconds issued);

}  // namespace orrery
