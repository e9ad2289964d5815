// Computes the price of compute: how long one operation keeps a GPU's compute stream busy. Knows kernels and
// the GPU's few constants; nothing of layers, plans or tasks. See docs/theory/kernels.md.
#pragma once

#include <array>

#include "orrery/cluster.hpp"
#include "orrery/software.hpp"
#include "orrery/workload.hpp"

namespace orrery {

struct ComputePrice {
  Picoseconds duration_ps = 0;  ///< all of it
  Picoseconds launch_ps = 0;    ///< part of it that passes between kernels
};

/// A price, and how much of it kernels of two kinds take.
struct ComputeParts {
  ComputePrice price;
  Picoseconds products_ps = 0;   ///< products of matrices
  Picoseconds attention_ps = 0;  ///< fused attention, also over the KV cache

  /// Returns the time of all other kernels; with products, attention and launches it adds up to the whole.
  [[nodiscard]] Picoseconds other_ps() const {
    return price.duration_ps - price.launch_ps - products_ps - attention_ps;
  }
};

/// Time of the kernels of an operation by class, without launch gaps: the shares in which its duration is
/// split.
using KernelWeights = std::array<Picoseconds, kKernelClassCount>;

/// Price of the kernels of `work` in sequence. `precision` must have a peak on this GPU, and fp8 a 16-bit
/// one beside it.
[[nodiscard]] ComputePrice price_compute(const KernelSequence& work, const Gpu& gpu, const Software& software,
                                         Precision precision);
/// Returns the price with its parts.
[[nodiscard]] ComputeParts price_compute_parts(const KernelSequence& work, const Gpu& gpu,
                                               const Software& software, Precision precision);
/// Returns the shares of its classes of kernels. Casts within products count as casts.
[[nodiscard]] KernelWeights kernel_weights(const KernelSequence& work, const Gpu& gpu,
                                           const Software& software, Precision precision);

}  // namespace orrery
