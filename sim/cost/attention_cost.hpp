// Computes the price of fused attention by generation of the kernel, head size, sequence length and mask. See
// docs/theory/kernels.md, "Fused attention".
#pragma once

#include "orrery/cluster.hpp"
#include "orrery/software.hpp"
#include "orrery/workload.hpp"
#include "sim/cost/gemm_cost.hpp"

namespace orrery {

/// Returns the time of the products of `kernel`, a fused attention. `products` is the rate that large matrix
/// products sustain, used where the GPU has no constants of its own for attention. The software says whose
/// kernel: cuDNN's and FlashAttention 3 fall back to FlashAttention 2 where the GPU does not run them, 0 is
/// the fastest of all.
[[nodiscard]] double attention_seconds(const Kernel& kernel, const Gpu& gpu, Precision precision,
                                       const Software& software, const GemmRates& products);

}  // namespace orrery
