// The price of fused attention by generation of the kernel, head size, sequence length and mask.
// See docs/models.md, "Fused attention".
#pragma once

#include "orrery/cluster.hpp"
#include "orrery/software.hpp"
#include "orrery/workload.hpp"
#include "sim/cost/gemm_cost.hpp"

namespace orrery {

/// Time of the products of `kernel`, a fused attention. `products` is what large matrix products sustain,
/// used where the GPU has no constants of its own for attention. The software says which generation of
/// FlashAttention runs; 3 falls back to 2 where the GPU does not run it, and 0 is the fastest of them.
[[nodiscard]] double attention_seconds(const Kernel& kernel, const Gpu& gpu, Precision precision,
                                       const Software& software, const GemmRates& products);

}  // namespace orrery
