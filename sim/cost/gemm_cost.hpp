// Computes the price of a matrix product by its shape: output tiles, waves of them over the SMs, operands.
// Knows one product and the GPU's constants. See docs/theory/kernels.md, "Price of a kernel".
#pragma once

#include "orrery/cluster.hpp"
#include "orrery/workload.hpp"

namespace orrery {

/// Holds the rates of a GPU at the precision of a product.
struct GemmRates {
  double flops_per_s = 0;    ///< of all SMs together on the best tile
  double most_per_s = 0;     ///< the peak, beyond which no library goes
  double bytes_per_s = 0;    ///< of device memory
  double operand_bytes = 2;  ///< width of an element of the two operands
  double result_bytes = 2;
};

/// @param speed  of the library, over the one the GPU's constants were measured with
[[nodiscard]] GemmRates gemm_rates(const Gpu& gpu, Precision precision, double speed = 1);

/// Precision of the attention core in a plan of `precision`: fewer than 16 bits serve products with weights
/// only, the others take the 16-bit peak that the GPU has, bf16 first.
[[nodiscard]] Precision core_precision(const Gpu& gpu, Precision precision);

/// Time of `kernel`, a gemm, with its operands ready in the precision of the product.
[[nodiscard]] double gemm_seconds(const Kernel& kernel, const Gpu& gpu, const GemmRates& rates);

/// Time, but for its start, of one whose weights are widened on the way in: by kernels that are made for few
/// rows, 16 at a time (Frantar et al. 2024, "Marlin"), and cut along k so that all SMs read.
[[nodiscard]] double widened_product_seconds(const Kernel& kernel, const GemmRates& rates);

}  // namespace orrery
