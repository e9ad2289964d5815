// Tells from the name of a kernel what it is for. Names are those of cuBLAS, CUTLASS, cuDNN, FlashAttention,
// Transformer Engine, Triton, PyTorch, Megatron-Core, NCCL and RCCL.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "orrery/workload.hpp"

namespace orrery {

/// Names what a span of a GPU is for: a class of kernels, or what a step has beside its passes.
enum class KernelUse : std::uint8_t {
  // The first are those of KernelClass.
  optimizer = kKernelClassCount,
  rotary,
  communication,
  copy,
};
inline constexpr std::size_t kComputeUses = kKernelClassCount + 2;

[[nodiscard]] constexpr KernelUse use_of(KernelClass kernel_class) {
  return static_cast<KernelUse>(kernel_class);
}
/// Returns true of kernels that compute.
[[nodiscard]] constexpr bool computes(KernelUse use) { return static_cast<std::size_t>(use) < kComputeUses; }
/// Returns the name in `kernels_s`, or "optimizer" or "rotary".
[[nodiscard]] std::string_view name_of_use(KernelUse use);

/// Returns its use by what the name contains; KernelClass::other where nothing is known of it.
[[nodiscard]] KernelUse use_by_name(std::string_view kernel);

/// Returns the collective that the name of a kernel of NCCL or a recorded collective says.
[[nodiscard]] std::optional<Collective> collective_by_name(std::string_view name);

/// Returns the dimension that the name or description of a process group says.
[[nodiscard]] std::optional<Dimension> dimension_by_name(std::string_view group);

}  // namespace orrery
