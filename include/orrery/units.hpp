// Declares units. Time is an integer number of picoseconds, data an integer number of bytes, bandwidth an
// integer number of bytes per second and direction; each is rounded once, where it is computed.
#pragma once

#include <cstdint>

namespace orrery {

/// A point in time or a duration, in ps; 2^63 ps are 106 days.
using Picoseconds = std::int64_t;
/// An amount of data, in bytes.
using Bytes = std::int64_t;
/// Floating-point operations (a fused multiply-add counts two).
using Flops = std::int64_t;

__extension__ using Int128 = __int128;
/// FLOPs of a whole step over all GPUs: published runs pass 2^63.
using TotalFlops = Int128;

inline constexpr Picoseconds kPicosecondsPerSecond = 1'000'000'000'000;
inline constexpr Picoseconds kPicosecondsPerMicrosecond = 1'000'000;

/// Quotient rounded half up; numerator >= 0, denominator > 0.
constexpr Int128 divide_rounded(Int128 numerator, Int128 denominator) {
  return (2 * numerator + denominator) / (2 * denominator);
}

/// Time to move `bytes / divisor` bytes at `bytes_per_s`, rounded half up to whole ps.
/// bytes >= 0 below 2^80, divisor > 0, bytes_per_s > 0. The divisor keeps shares such as M/n exact.
constexpr Picoseconds transfer_ps(Int128 bytes, std::int64_t bytes_per_s, std::int64_t divisor = 1) {
  return static_cast<Picoseconds>(
      divide_rounded(bytes * kPicosecondsPerSecond, static_cast<Int128>(bytes_per_s) * divisor));
}

constexpr double to_seconds(Picoseconds time) { return static_cast<double>(time) * 1e-12; }

/// Microseconds as written in a specification, rounded half up to whole ps, 9e18 at most; value >= 0.
constexpr Picoseconds from_microseconds(double value) {
  return value < 9e12 ? static_cast<Picoseconds>(value * 1e6 + 0.5) : Picoseconds{9'000'000'000'000'000'000};
}

}  // namespace orrery
