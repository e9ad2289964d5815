// Draws random numbers for requests, the same to the bit everywhere: integers, comparisons and IEEE's basic
// operations alone, none of which a library may round in its own way.
#pragma once

#include <cstdint>

namespace orrery {

/// e^x, for |x| < 700, to within a few units in the last slot.
[[nodiscard]] double portable_exp(double x);
/// Natural logarithm of x >= 1, likewise.
[[nodiscard]] double portable_log(double x);

/// A sequence of numbers; sequences of different streams of one seed have nothing in common.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint64_t stream);
  std::uint64_t next();
  double uniform();      ///< from 0, below 1
  double exponential();  ///< of mean 1
  double normal();       ///< of mean 0 and deviation 1
  /// Returns an integer from `least` to `most`, each equally likely but for 2^-64 of their number.
  std::int64_t integer(std::int64_t least, std::int64_t most);

 private:
  std::uint64_t state_;
};

}  // namespace orrery
