#include "sim/cost/pace.hpp"

#include <bit>

namespace orrery {
namespace {

/// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

/// Exponential with mean 1 by comparisons alone (von Neumann 1951), so that it is the same to the bit
/// everywhere: a run of falling uniform numbers of odd length accepts the first as the fraction.
double exponential(Random& random) {
  constexpr double kUnit = 1.0 / 9007199254740992.0;  // 2^-53
  for (int whole = 0;; ++whole) {
    const std::uint64_t first = random.next() >> 11;
    std::uint64_t before = first;
    bool odd = true;
    for (std::uint64_t next = random.next() >> 11; next < before; next = random.next() >> 11) {
      before = next;
      odd = !odd;
    }
    if (odd) return whole + static_cast<double>(first) * kUnit;
  }
}

}  // namespace

Pace::Pace(const Experiment& experiment)
    : jitter_(experiment.software.jitter), seed_(static_cast<std::uint64_t>(experiment.simulation.seed)) {
  if (experiment.cluster.overrides.empty()) return;
  speed_.assign(static_cast<std::size_t>(experiment.cluster.gpus()), 1.0);
  for (const GpuOverride& override : experiment.cluster.overrides) {
    for (std::int64_t gpu = override.first_gpu; gpu < override.first_gpu + override.gpus; ++gpu)
      speed_[static_cast<std::size_t>(gpu)] = override.speed;
  }
}

double Pace::factor(std::uint32_t rank, std::int32_t step) const {
  double time = 1;
  if (jitter_ > 0) {
    Random of_rank(seed_ ^ (std::uint64_t{rank} << 32));
    Random random(of_rank.next() + static_cast<std::uint64_t>(step));
    time += jitter_ * exponential(random);
  }
  return speed_.empty() ? time : time / speed_[rank];
}

Picoseconds Pace::scaled(Picoseconds duration, std::uint32_t rank, std::int32_t step) const {
  return static_cast<Picoseconds>(static_cast<double>(duration) * factor(rank, step) + 0.5);
}

std::uint64_t Pace::kind(std::uint32_t rank) const {
  if (jitter_ > 0) return std::uint64_t{rank} + 1;
  return speed_.empty() || speed_[rank] == 1 ? 0 : std::bit_cast<std::uint64_t>(speed_[rank]);
}

}  // namespace orrery
