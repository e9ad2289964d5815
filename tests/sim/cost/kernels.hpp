// Kernels, and GPUs of round figures, for the tests of prices.
#pragma once

#include "sim/cost/compute_cost.hpp"

namespace orrery::test {

/// 100 SMs of 1 TFLOP/s each, 10^6 GB/s so that memory does not limit, no other constants.
inline Gpu round_gpu() {
  Gpu gpu;
  for (double& peak : gpu.peak_tflops) peak = 100;
  gpu.memory_gb = 80;
  gpu.memory_gb_per_s = 1e6;
  gpu.sms = 100;
  return gpu;
}

inline Kernel product(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch = 1) {
  return {Kernel::Kind::gemm, batch, m, n, k, 0, 2 * batch * m * n * k};
}

inline Kernel fused_attention(std::int64_t batch, std::int64_t length, std::int64_t head, bool causal,
                              bool backward = false) {
  Kernel kernel{Kernel::Kind::attention, batch, length, length, head, 0, 4 * batch * length * length * head};
  if (causal) kernel.flops /= 2;
  if (backward) kernel.flops = kernel.flops / 2 * 5;
  kernel.causal = causal;
  kernel.backward = backward;
  return kernel;
}

inline Picoseconds price(const Kernel& kernel, const Gpu& gpu, Precision precision = Precision::bf16,
                         std::int64_t flash_version = 2) {
  Software software;
  software.flash_version = flash_version;
  return price_compute({{kernel}, kernel.flops}, gpu, software, precision).duration_ps;
}

}  // namespace orrery::test
