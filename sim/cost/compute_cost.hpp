// The price of compute: how long one operation keeps a GPU's compute stream busy.
// Knows kernels and the GPU's few constants; nothing of layers, plans or tasks. See docs/models.md.
#pragma once

#include "orrery/cluster.hpp"
#include "orrery/software.hpp"
#include "orrery/workload.hpp"

namespace orrery {

struct ComputePrice {
  Picoseconds duration_ps = 0;  ///< all of it
  Picoseconds launch_ps = 0;    ///< part of it that passes between kernels
};

/// Price of the kernels of `work` in sequence. `precision` must have a peak on this GPU, and fp8 a 16-bit
/// one beside it.
[[nodiscard]] ComputePrice price_compute(const KernelSequence& work, const Gpu& gpu, const Software& software,
                                         Precision precision);

}  // namespace orrery
