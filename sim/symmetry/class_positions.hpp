// Gives the positions of a folding's classes: ranks among those of their program, communicators in their
// channels.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/content_hash.hpp"
#include "orrery/workload.hpp"
#include "sim/matching/channels.hpp"
#include "sim/symmetry/fold.hpp"
#include "sim/symmetry/representatives.hpp"

namespace orrery {

struct ClassPositions {
  Representatives representatives;
  std::vector<std::uint32_t> program;         ///< per class of ranks
  std::vector<std::uint32_t> position;        ///< per class of ranks: its place among those of its program
  std::vector<std::uint32_t> group_position;  ///< [class * slots + slot]: place of its communicator, or kNone
  std::vector<std::uint32_t> place_of_group;  ///< per class of communicators: its place in its channel
  std::vector<std::vector<std::uint32_t>> groups;  ///< [channel]: communicators that are simulated

  /// Returns a hash that is equal for foldings of equal programs that expand to equal graphs, whatever ranks
  /// they represent.
  [[nodiscard]] ContentHash shape(const Channels& channels) const;
};

[[nodiscard]] ClassPositions class_positions(const Workload& workload, const Channels& channels,
                                             const Folded& folded);

}  // namespace orrery
