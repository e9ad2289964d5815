// Finds the units that ZeRO-3 moves whole (FSDP units, Zhao et al. 2023): layers of a stage that are gathered
// and reduced together. Embedding and head are units of their own.
#pragma once

#include <cstddef>
#include <vector>

#include "workloads/programs/stages.hpp"

namespace orrery {

/// Blocks [first, end) of a chunk.
struct FsdpUnit {
  std::size_t first = 0;
  std::size_t end = 0;

  /// Returns true if a pass in that direction enters, or leaves, the unit with the block.
  [[nodiscard]] bool begins_with(std::size_t block, bool ahead) const {
    return block == (ahead ? first : end - 1);
  }
  [[nodiscard]] bool ends_with(std::size_t block, bool ahead) const { return begins_with(block, !ahead); }
};

/// Returns, by block of a chunk, the unit that it belongs to; `layers` are in one, fewer at the end of the
/// chunk.
[[nodiscard]] std::vector<FsdpUnit> fsdp_units(std::span<const PlacedBlock> blocks, std::int64_t layers);

/// Sum of a member of the unit's blocks.
[[nodiscard]] std::int64_t sum_over(const Chunk& chunk, const FsdpUnit& unit,
                                    std::int64_t PlacedBlock::*member);

/// Returns the largest sum of `member` over a unit of a stage.
[[nodiscard]] std::int64_t most_in_unit(const Stage& stage, std::int64_t layers,
                                        std::int64_t PlacedBlock::*member);

}  // namespace orrery
