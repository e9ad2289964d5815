// Draws random numbers that are the same everywhere: splitmix64 (Steele, Lea and Flood 2014; constants of
// Vigna). The distributions of the standard library differ between implementations.
#pragma once

#include <cstdint>

#include "orrery/units.hpp"

namespace orrery {

class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// Returns an integer in [0, bound); bound >= 1, below 2^40 for a bias under 2^-24.
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>(static_cast<Int128>(next() >> 1) * static_cast<Int128>(bound) >> 63);
  }
  /// Returns a number in [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace orrery
