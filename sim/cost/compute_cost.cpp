#include "sim/cost/compute_cost.hpp"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

/// Side of the output tile that one SM computes at a time in a large GEMM.
constexpr std::int64_t kTile = 128;

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

class KernelPricer {
 public:
  KernelPricer(const Gpu& gpu, Precision precision)
      : gpu_(gpu), products_(flops_per_s(precision)), core_(products_), element_(bytes_of(precision)) {
    // FP8 serves the products with weights only; scores and context stay in 16 bits.
    if (precision == Precision::fp8) core_ = flops_per_s(Precision::bf16);
  }

  [[nodiscard]] double seconds(const Kernel& kernel) const {
    switch (kernel.kind) {
      case Kernel::Kind::gemm:
        return std::max(product_seconds(kernel), memory_seconds(operand_bytes(kernel)));
      case Kernel::Kind::attention:
        return std::max(static_cast<double>(kernel.flops) / core_,
                        memory_seconds(static_cast<double>(kernel.bytes)));
      case Kernel::Kind::memory:
        break;
    }
    return memory_seconds(static_cast<double>(kernel.bytes));
  }

 private:
  static double bytes_of(Precision precision) {
    return precision == Precision::fp32 || precision == Precision::tf32 ? 4 : 2;
  }
  [[nodiscard]] double flops_per_s(Precision precision) const {
    return gpu_.peak_tflops[static_cast<std::size_t>(precision)] * 1e12 * gpu_.gemm_efficiency;
  }
  [[nodiscard]] double memory_seconds(double bytes) const {
    return bytes / (gpu_.memory_gb_per_s * 1e9 * gpu_.memory_efficiency);
  }
  [[nodiscard]] double operand_bytes(const Kernel& k) const {
    const auto m = static_cast<double>(k.m);
    const auto n = static_cast<double>(k.n);
    const auto depth = static_cast<double>(k.k);
    return element_ * static_cast<double>(k.batch) * (m * depth + depth * n + m * n);
  }
  /// Tiles are worked off in waves of one per SM, and the last wave takes as long as a full one.
  [[nodiscard]] double product_seconds(const Kernel& k) const {
    const double rate = k.batch > 1 ? core_ : products_;
    if (gpu_.sms == 0) return static_cast<double>(k.flops) / rate;
    const std::int64_t tiles = k.batch * divide_up(k.m, kTile) * divide_up(k.n, kTile);
    const double computed = static_cast<double>(divide_up(tiles, gpu_.sms) * gpu_.sms);
    return computed * static_cast<double>(2 * kTile * kTile) * static_cast<double>(k.k) / rate;
  }

  const Gpu& gpu_;
  double products_;  ///< FLOP/s of products with weights
  double core_;      ///< FLOP/s of the attention core
  double element_;
};

Picoseconds to_picoseconds(double seconds) {
  return static_cast<Picoseconds>(std::floor(seconds * 1e12 + 0.5));
}

}  // namespace

ComputePrice price_compute(const ComputeWork& work, const Gpu& gpu, [[maybe_unused]] const Software& software,
                           Precision precision) {
  const KernelPricer pricer(gpu, precision);
  double seconds = 0;
  for (const Kernel& kernel : work.kernels) seconds += pricer.seconds(kernel);
  const Picoseconds launch =
      from_microseconds(gpu.kernel_launch_us) * static_cast<Picoseconds>(work.kernels.size());
  return {to_picoseconds(seconds) + launch, launch};
}

}  // namespace orrery
