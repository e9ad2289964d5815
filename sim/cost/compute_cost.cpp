#include "sim/cost/compute_cost.hpp"

#include <algorithm>
#include <cmath>

#include "sim/cost/attention_cost.hpp"
#include "sim/cost/gemm_cost.hpp"

namespace orrery {
namespace {

/// Multiplications of F(2 x 2, 3 x 3) over those of the direct sum (Lavin and Gray 2016): 16 of 36. Tensor
/// cores do the direct one.
constexpr double kWinograd = 16.0 / 36;

class KernelPricer {
 public:
  KernelPricer(const Gpu& gpu, const Software& software, Precision precision)
      : gpu_(gpu),
        software_(software),
        precision_(precision),
        core_precision_(core_precision(gpu, precision)),
        products_(gemm_rates(gpu, precision, software.gemm_speed)),
        core_(gemm_rates(gpu, core_precision_, software.gemm_speed)),
        convolutions_(gemm_rates(gpu, core_precision_)) {}

  [[nodiscard]] double seconds(const Kernel& kernel) const {
    const double bytes = memory_seconds(static_cast<double>(kernel.bytes));
    switch (kernel.kind) {
      case Kernel::Kind::gemm:
        if ((kernel.batch > 1 && !kernel.grouped) || kernel.in_16_bits)
          return gemm_seconds(kernel, gpu_, core_);
        return weight_product_seconds(kernel) + cast_seconds(kernel);
      case Kernel::Kind::attention:
        return gpu_.gemm_start_us * 1e-6 +
               std::max(attention_seconds(kernel, gpu_, core_precision_, software_, core_), bytes);
      case Kernel::Kind::convolution:
        return static_cast<double>(kernel.batch) * (gpu_.gemm_start_us + gpu_.convolution_start_us) * 1e-6 +
               std::max(convolution_seconds(kernel), bytes);
      case Kernel::Kind::small_filter:
        return convolution_seconds(kernel) * (precision_ == Precision::fp32 ? kWinograd : 1);
      case Kernel::Kind::host_copy:
        return static_cast<double>(kernel.bytes) / (gpu_.host_link_gb_per_s * 1e9);
      case Kernel::Kind::host_memory:
        return static_cast<double>(kernel.bytes) / (gpu_.host_memory_gb_per_s * 1e9);
      case Kernel::Kind::memory:
        break;
    }
    return bytes + gpu_.memory_ramp_us * 1e-6;
  }

 private:
  [[nodiscard]] double memory_seconds(double bytes) const { return bytes / core_.bytes_per_s; }
  [[nodiscard]] double convolution_seconds(const Kernel& kernel) const {
    const double rate = convolutions_.flops_per_s * software_.convolution_speed;
    return static_cast<double>(kernel.flops) / std::min(convolutions_.most_per_s, rate);
  }

  /// Products in turn share no waves; several streams hide their starts but the first.
  [[nodiscard]] double weight_product_seconds(const Kernel& kernel) const {
    if (!kernel.grouped || !software_.experts_in_turn) return gemm_seconds(kernel, gpu_, products_);
    Kernel one = kernel;
    one.batch = 1;
    one.flops = kernel.flops / kernel.batch;
    one.bytes = kernel.bytes / kernel.batch;
    const double start = gpu_.gemm_start_us * 1e-6;
    return start + static_cast<double>(kernel.batch) * (gemm_seconds(one, gpu_, products_) - start);
  }

  /// A tensor is cast once, as it is and transposed (FP8: 2 bytes read, 1 + 1 written), and serves two of the
  /// three products of a matrix: each product bears half of it for each of its operands. NVFP4 has a scale
  /// for the whole tensor beside those of blocks, so it is read once more to find that.
  [[nodiscard]] double cast_seconds(const Kernel& kernel) const {
    if (!is_narrow(precision_)) return 0;
    const double reads = precision_ == Precision::fp4 ? 2 : 1;
    const double traffic = (2 * reads + 2 * value_bytes(precision_)) / 2;
    const auto m = static_cast<double>(kernel.m);
    const auto n = static_cast<double>(kernel.n);
    const auto k = static_cast<double>(kernel.k);
    const double values = static_cast<double>(kernel.batch) * (m * k + k * n);
    return memory_seconds(traffic * values) + gpu_.memory_ramp_us * 1e-6;
  }

  const Gpu& gpu_;
  const Software& software_;
  Precision precision_;
  Precision core_precision_;
  GemmRates products_;      ///< of products with weights
  GemmRates core_;          ///< of the attention core
  GemmRates convolutions_;  ///< a library of their own does them
};

bool runs_on_gpu(const Kernel& kernel) {
  return kernel.kind != Kernel::Kind::host_copy && kernel.kind != Kernel::Kind::host_memory;
}

Picoseconds to_picoseconds(double seconds) {
  return static_cast<Picoseconds>(std::floor(seconds * 1e12 + 0.5));
}

}  // namespace

ComputePrice price_compute(const KernelSequence& work, const Gpu& gpu, const Software& software,
                           Precision precision) {
  const KernelPricer pricer(gpu, software, precision);
  double seconds = 0;
  for (const Kernel& kernel : work.kernels) seconds += pricer.seconds(kernel);
  const auto launches = std::ranges::count_if(work.kernels, runs_on_gpu);
  const Picoseconds launch = from_microseconds(gpu.kernel_launch_us) * launches;
  return {to_picoseconds(seconds) + launch, launch};
}

}  // namespace orrery
