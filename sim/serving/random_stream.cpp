#include "sim/serving/random_stream.hpp"

#include <cmath>

#include "orrery/content_hash.hpp"
#include "orrery/units.hpp"

namespace orrery {
namespace {

constexpr double kLn2 = 0.693147180559945309417;
constexpr double kTwoToMinus53 = 1.0 / 9007199254740992.0;  // 2^-53
constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;

}  // namespace

double portable_exp(double x) {
  const double halvings = std::floor(x / kLn2 + 0.5);
  const double rest = x - halvings * kLn2;  // at most ln(2) / 2: 0.35^20 / 20! < 2^-90
  double sum = 1;
  for (int term = 20; term > 0; --term) sum = 1 + rest / term * sum;
  return std::ldexp(sum, static_cast<int>(halvings));
}

double portable_log(double x) {
  int exponent = 0;
  static_cast<void>(std::frexp(x, &exponent));
  double y = exponent * kLn2;
  for (int i = 0; i < 5; ++i) {  // Halley's method: digits triple, from an error below ln(2)
    const double power = portable_exp(y);
    y += 2 * (x - power) / (x + power);
  }
  return y;
}

RandomStream::RandomStream(std::uint64_t seed, std::uint64_t stream)
    : state_(ContentHash::scramble(seed + kGolden) ^ ContentHash::scramble(kGolden * (stream + 1))) {}

/// SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t RandomStream::next() { return ContentHash::scramble(state_ += kGolden); }

double RandomStream::uniform() { return static_cast<double>(next() >> 11) * kTwoToMinus53; }

/// By comparisons alone (von Neumann 1951): a run of falling uniform numbers of odd length accepts the first
/// as the fraction.
double RandomStream::exponential() {
  for (int whole = 0;; ++whole) {
    const std::uint64_t first = next() >> 11;
    std::uint64_t before = first;
    bool odd = true;
    for (std::uint64_t following = next() >> 11; following < before; following = next() >> 11) {
      before = following;
      odd = !odd;
    }
    if (odd) return whole + static_cast<double>(first) * kTwoToMinus53;
  }
}

/// By rejection from an exponential (Devroye 1986, IV.2.1): x is taken with probability e^(-(x - 1)^2 / 2).
double RandomStream::normal() {
  for (;;) {
    const double x = exponential();
    if (2 * exponential() < (x - 1) * (x - 1)) continue;
    return (next() & 1) != 0 ? x : -x;
  }
}

std::int64_t RandomStream::integer(std::int64_t least, std::int64_t most) {
  __extension__ using Wide = unsigned __int128;
  const auto count = static_cast<std::uint64_t>(most - least) + 1;
  return least + static_cast<std::int64_t>(static_cast<std::uint64_t>((Wide{next()} * count) >> 64));
}

}  // namespace orrery
