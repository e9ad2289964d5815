// Stragglers: GPUs that compute more slowly than their kind, always or by chance from step to step.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/experiment.hpp"

namespace orrery {

class Pace {
 public:
  Pace() = default;
  /// Rank r is GPU r.
  explicit Pace(const Experiment& experiment);

  /// All ranks compute alike in all steps.
  [[nodiscard]] bool even() const { return jitter_ == 0 && speed_.empty(); }
  /// What a kernel of the rank takes in that step over what it would: (1 + jitter E) / speed, E exponential
  /// with mean 1, drawn for every rank and step from the seed.
  [[nodiscard]] double factor(std::uint32_t rank, std::int32_t step) const;
  [[nodiscard]] Picoseconds scaled(Picoseconds duration, std::uint32_t rank, std::int32_t step) const;
  /// Ranks of different numbers may differ; 0 where all are even.
  [[nodiscard]] std::uint64_t kind(std::uint32_t rank) const;

 private:
  double jitter_ = 0;
  std::uint64_t seed_ = 0;
  std::vector<double> speed_;  ///< per rank; empty: all 1
};

}  // namespace orrery
