// Points as evolution varies them: a number per key. Internal to planner/methods/.
#pragma once

#include <string>
#include <vector>

#include "planner/space/space.hpp"
#include "topologies/gossip/random_numbers.hpp"

namespace orrery {

/// Per key of a space the number of its value or, for an interval, the share of the way from its lower end.
using Genome = std::vector<double>;

/// Draws genomes; the same for the same random numbers on every machine.
class Breeder {
 public:
  /// Keeps a reference to `space`.
  explicit Breeder(const Space& space);

  [[nodiscard]] Genome random(SplitMix64& random) const;
  /// Each key from either parent, then changed in one key and by chance in more: numbers mostly to a
  /// neighbour, names to any other, shares by a step of any size.
  [[nodiscard]] Genome child(const Genome& a, const Genome& b, SplitMix64& random) const;
  [[nodiscard]] std::vector<std::string> values(const Genome& genome) const;

 private:
  [[nodiscard]] double mutated(std::size_t key, double gene, SplitMix64& random) const;

  const Space& space_;
  std::vector<bool> numeric_;      ///< per key: its values are numbers in order
  std::vector<std::size_t> free_;  ///< keys that have a choice
};

}  // namespace orrery
