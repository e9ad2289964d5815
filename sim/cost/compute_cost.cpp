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

/// Rows of a product up to which widened weights are read once; with more it computes as any other.
constexpr std::int64_t kFewRows = 64;

class KernelPricer {
 public:
  KernelPricer(const Gpu& gpu, const Software& software, Precision precision)
      : gpu_(gpu),
        software_(software),
        precision_(precision),
        core_precision_(core_precision(gpu, precision)),
        products_(gemm_rates(gpu, precision, software.gemm_speed)),
        stored_(reading(products_, software.weight_read_share)),
        widened_(widened_rates(gpu, software, precision)),
        core_(gemm_rates(gpu, core_precision_, software.gemm_speed)),
        stored_core_(reading(core_, software.weight_read_share)),
        convolutions_(gemm_rates(gpu, core_precision_)) {}

  [[nodiscard]] double seconds(const Kernel& kernel) const {
    const double bytes = memory_seconds(static_cast<double>(kernel.bytes));
    switch (kernel.kind) {
      case Kernel::Kind::gemm:
        if ((kernel.batch > 1 && !kernel.grouped) || kernel.in_16_bits)
          return gemm_seconds(kernel, gpu_, kernel.weight_bytes > 0 ? stored_core_ : core_);
        return weight_product_seconds(kernel) + cast_seconds(kernel);
      case Kernel::Kind::attention:
        return gpu_.gemm_start_us * 1e-6 +
               std::max(attention_seconds(kernel, gpu_, core_precision_, software_, core_), bytes);
      case Kernel::Kind::cached_attention:
        return gpu_.gemm_start_us * 1e-6 + std::max(static_cast<double>(kernel.flops) / core_.flops_per_s,
                                                    bytes / software_.cached_attention_share);
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

  /// Returns the part of seconds() in which operands of a product are cast.
  [[nodiscard]] double seconds_of_casts(const Kernel& kernel) const {
    const bool wide = (kernel.batch > 1 && !kernel.grouped) || kernel.in_16_bits;
    return kernel.kind == Kernel::Kind::gemm && !wide ? cast_seconds(kernel) : 0;
  }

 private:
  [[nodiscard]] static GemmRates reading(GemmRates rates, double share) {
    rates.bytes_per_s *= share;
    return rates;
  }
  /// GPUs with units for 4 bits multiply weights as they lie.
  [[nodiscard]] static GemmRates widened_rates(const Gpu& gpu, const Software& software,
                                               Precision precision) {
    if (gpu.peak(Precision::fp4) > 0)
      return reading(gemm_rates(gpu, precision, software.gemm_speed), software.weight_read_share);
    const double speed = software.widened_product_speed * gpu.widened_product_speed;
    return reading(gemm_rates(gpu, precision, software.gemm_speed * speed), software.widened_read_share);
  }
  [[nodiscard]] double memory_seconds(double bytes) const { return bytes / core_.bytes_per_s; }
  [[nodiscard]] double convolution_seconds(const Kernel& kernel) const {
    const double rate = convolutions_.flops_per_s * software_.convolution_speed;
    return static_cast<double>(kernel.flops) / std::min(convolutions_.most_per_s, rate);
  }

  /// Products in turn share no waves; several streams hide their starts but the first.
  [[nodiscard]] double weight_product_seconds(const Kernel& kernel) const {
    if (kernel.weight_bytes > 0 && kernel.weight_bytes < products_.operand_bytes) {
      const double few = gpu_.gemm_start_us * 1e-6 + widened_product_seconds(kernel, widened_);
      return kernel.m <= kFewRows ? few : std::max(few, gemm_seconds(kernel, gpu_, stored_));
    }
    const GemmRates& rates = kernel.weight_bytes > 0 ? stored_ : products_;
    if (!kernel.grouped || kernel.at_once || !software_.experts_in_turn)
      return gemm_seconds(kernel, gpu_, rates);
    Kernel one = kernel;
    one.batch = 1;
    one.flops = kernel.flops / kernel.batch;
    one.bytes = kernel.bytes / kernel.batch;
    const double start = gpu_.gemm_start_us * 1e-6;
    return start + static_cast<double>(kernel.batch) * (gemm_seconds(one, gpu_, rates) - start);
  }

  /// A tensor is cast once, as it is and transposed (FP8: 2 bytes read, 1 + 1 written), and serves two of the
  /// three products of a matrix: each product bears half of it for each of its operands that is not ready.
  /// NVFP4 has a scale for the whole tensor beside those of blocks, so it is read once more to find that.
  /// Stored weights are ready; their left operands are cast once.
  [[nodiscard]] double cast_seconds(const Kernel& kernel) const {
    if (!is_narrow(precision_)) return 0;
    if (kernel.weight_bytes > 0) {
      const auto values = static_cast<double>(kernel.batch * kernel.m * kernel.k);
      return memory_seconds((2 + value_bytes(precision_)) * values) + gpu_.memory_ramp_us * 1e-6;
    }
    const double reads = precision_ == Precision::fp4 ? 2 : 1;
    const double traffic = (2 * reads + 2 * value_bytes(precision_)) / 2;
    const auto m = static_cast<double>(kernel.m);
    const auto n = static_cast<double>(kernel.n);
    const auto k = static_cast<double>(kernel.k);
    if (kernel.left_ready && kernel.right_ready) return 0;
    const double values = static_cast<double>(kernel.batch) *
                          ((kernel.left_ready ? 0 : m * k) + (kernel.right_ready ? 0 : k * n));
    return memory_seconds(traffic * values) + gpu_.memory_ramp_us * 1e-6;
  }

  const Gpu& gpu_;
  const Software& software_;
  Precision precision_;
  Precision core_precision_;
  GemmRates products_;      ///< of products with weights
  GemmRates stored_;        ///< of those whose weights lie ready
  GemmRates widened_;       ///< of those whose weights lie in fewer bits
  GemmRates core_;          ///< of the attention core
  GemmRates stored_core_;   ///< of products with weights of 16 bits
  GemmRates convolutions_;  ///< a library of their own does them
};

bool runs_on_gpu(const Kernel& kernel) {
  return kernel.kind != Kernel::Kind::host_copy && kernel.kind != Kernel::Kind::host_memory;
}

bool is_attention(const Kernel& kernel) {
  return kernel.kind == Kernel::Kind::attention || kernel.kind == Kernel::Kind::cached_attention;
}

Picoseconds to_picoseconds(double seconds) {
  return static_cast<Picoseconds>(std::floor(seconds * 1e12 + 0.5));
}

}  // namespace

ComputePrice price_compute(const KernelSequence& work, const Gpu& gpu, const Software& software,
                           Precision precision) {
  return price_compute_parts(work, gpu, software, precision).price;
}

/// Rounds the sum of all kernels, so that no part exceeds the rest of it.
ComputeParts price_compute_parts(const KernelSequence& work, const Gpu& gpu, const Software& software,
                                 Precision precision) {
  const KernelPricer pricer(gpu, software, precision);
  double seconds = 0;
  double products = 0;
  double attention = 0;
  for (const Kernel& kernel : work.kernels) {
    const double one = pricer.seconds(kernel);
    seconds += one;
    if (kernel.kind == Kernel::Kind::gemm) products += one;
    if (is_attention(kernel)) attention += one;
  }
  const Picoseconds all = to_picoseconds(seconds);
  const auto launches = std::ranges::count_if(work.kernels, runs_on_gpu);
  const Picoseconds launch = from_microseconds(gpu.kernel_launch_us) * launches;
  ComputeParts parts{{all + launch, launch}};
  parts.products_ps = std::min(to_picoseconds(products), all);
  parts.attention_ps = std::min(to_picoseconds(attention), all - parts.products_ps);
  return parts;
}

KernelWeights kernel_weights(const KernelSequence& work, const Gpu& gpu, const Software& software,
                             Precision precision) {
  const KernelPricer pricer(gpu, software, precision);
  std::array<double, kKernelClassCount> seconds{};
  for (const Kernel& kernel : work.kernels) {
    const double casts = pricer.seconds_of_casts(kernel);
    const KernelClass own = work.again ? KernelClass::recomputation : kernel.kernel_class();
    const KernelClass casting = work.again ? KernelClass::recomputation : KernelClass::casts;
    seconds[static_cast<std::size_t>(casting)] += casts;
    seconds[static_cast<std::size_t>(own)] += pricer.seconds(kernel) - casts;
  }
  KernelWeights weights{};
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = to_picoseconds(seconds[i]);
  return weights;
}

}  // namespace orrery
