// Names formats of numbers, for products and for messages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace orrery {

/// Names the precisions, first those that a GPU has a unit for. Of the others, fp8-blockwise has a 32-bit
/// scale for every 128 values (DeepSeek-AI 2024, "DeepSeek-V3", section 3.3), mxfp8 an 8-bit one for every 32
/// (OCP Microscaling Formats 1.0); fp4 is NVFP4, with an 8-bit one for every 16 (NVIDIA 2025, arXiv
/// 2509.25149).
enum class Precision : std::uint8_t { fp32, tf32, fp16, bf16, fp8, fp4, fp8_blockwise, mxfp8 };
inline constexpr std::size_t kPrecisionCount = 8;
inline constexpr std::size_t kUnitCount = 6;
inline constexpr std::array<std::string_view, kPrecisionCount> kPrecisionNames{
    "fp32", "tf32", "fp16", "bf16", "fp8", "fp4", "fp8-blockwise", "mxfp8"};

/// Returns true if products with weights are computed in fewer than 16 bits; all else then is in 16.
[[nodiscard]] constexpr bool is_narrow(Precision precision) { return precision >= Precision::fp8; }

/// The unit that computes its products.
[[nodiscard]] constexpr Precision unit_of(Precision precision) {
  return precision == Precision::fp8_blockwise || precision == Precision::mxfp8 ? Precision::fp8 : precision;
}

/// Bytes of 32 values with their share of scales.
[[nodiscard]] constexpr std::int64_t bytes_of_32(Precision precision) {
  switch (precision) {
    case Precision::fp32:
    case Precision::tf32:
      return 128;
    case Precision::fp16:
    case Precision::bf16:
      return 64;
    case Precision::fp8:
      return 32;
    case Precision::fp4:
      return 16 + 2;
    case Precision::fp8_blockwise:
    case Precision::mxfp8:
      break;
  }
  return 32 + 1;
}

/// Returns the bytes of one value in memory.
[[nodiscard]] constexpr double value_bytes(Precision precision) {
  return static_cast<double>(bytes_of_32(precision)) / 32;
}

}  // namespace orrery
