#include "workloads/models/weight_products.hpp"

#include "workloads/models/step_builder.hpp"

namespace orrery {
namespace {

/// Adapters keep 16 bits in FP8 training: NeMo's parallel adapters are not layers of Transformer Engine.
Kernel adapter_product(std::int64_t m, std::int64_t n, std::int64_t k) {
  Kernel kernel = gemm(m, n, k);
  kernel.in_16_bits = true;
  return kernel;
}

}  // namespace

/// Returns the kernel that adds the outputs of the weight and of its adapter.
Kernel WeightProducts::sum(std::int64_t values) const {
  const auto bytes = static_cast<double>(3 * values * element_);
  return memory(static_cast<Bytes>(bytes * software_.elementwise_traffic + 0.5));
}

/// A kernel of its own reads the narrow weight and writes it as the product takes it, each time
/// (bitsandbytes).
void WeightProducts::widen(const Weight& weight, std::vector<Kernel>& kernels) const {
  if (rank_ == 0 || frozen_ == FrozenPrecision::as_computed) return;
  const std::int64_t weights = weight.product.k * weight.product.n;
  kernels.push_back(as(KernelClass::casts, memory(frozen_bytes(frozen_, weights) + weights * element_)));
}

void WeightProducts::add(const Weight& weight, std::vector<Kernel>& kernels) const {
  Kernel p = weight.product;
  p.right_ready = cast_once_;
  widen(weight, kernels);
  kernels.push_back(p);
  if (!weight.adapted) return;
  kernels.push_back(adapter_product(p.m, rank_, p.k));
  kernels.push_back(adapter_product(p.m, p.n, rank_));
  kernels.push_back(sum(p.m * p.n));
}

void WeightProducts::add_input_gradient(const Weight& weight, std::vector<Kernel>& kernels) const {
  Kernel p = weight.product;
  p.right_ready = cast_once_;
  widen(weight, kernels);
  kernels.push_back(input_gradient(p));
  if (!weight.adapted) return;
  kernels.push_back(adapter_product(p.m, rank_, p.n));
  kernels.push_back(adapter_product(p.m, p.k, rank_));
  kernels.push_back(sum(p.m * p.k));
}

void WeightProducts::add_weight_gradient(const Weight& weight, std::vector<Kernel>& kernels) const {
  const Kernel& p = weight.product;
  if (rank_ == 0) {
    kernels.push_back(weight_gradient(p, software_.fused_sum_bytes()));
    if (weight.bias_gradient > 0 && software_.bias_gradient_kernels)
      kernels.push_back(as(KernelClass::biases, memory(weight.bias_gradient)));
    return;
  }
  if (!weight.adapted) return;
  kernels.push_back(adapter_product(rank_, p.n, p.m));
  kernels.push_back(adapter_product(p.k, rank_, p.m));
}

std::int64_t WeightProducts::trained_in(const Weight& weight) const {
  const Kernel& p = weight.product;
  if (rank_ == 0) return p.k * p.n;
  return weight.adapted ? rank_ * (p.k + p.n) : 0;
}

}  // namespace orrery
