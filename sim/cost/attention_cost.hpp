// The price of fused attention by generation of the kernel, head size, sequence length and mask.
// See docs/models.md, "Fused attention".
#pragma once

#include <cstdint>

#include "orrery/cluster.hpp"
#include "orrery/workload.hpp"

namespace orrery {

/// Time of the products of `kernel`, a fused attention. `flops_per_s` is what large matrix products
/// sustain, used where the GPU has no constants of its own for attention. `version` is the generation
/// of FlashAttention wished for; 3 falls back to 2 where the GPU does not run it.
[[nodiscard]] double attention_seconds(const Kernel& kernel, const Gpu& gpu, Precision precision,
                                       std::int64_t version, double flops_per_s);

}  // namespace orrery
