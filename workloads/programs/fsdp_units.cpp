#include "workloads/programs/fsdp_units.hpp"

#include <algorithm>

namespace orrery {

std::vector<FsdpUnit> fsdp_units(std::span<const PlacedBlock> blocks, std::int64_t layers) {
  std::vector<FsdpUnit> units;
  units.reserve(blocks.size());
  const auto is_layer = [&](std::size_t block) { return blocks[block].part == Part::layer; };
  const auto most = static_cast<std::size_t>(layers);
  for (std::size_t first = 0; first < blocks.size();) {
    std::size_t end = first + 1;
    while (end < blocks.size() && is_layer(first) && is_layer(end) && end - first < most) ++end;
    units.insert(units.end(), end - first, FsdpUnit{first, end});
    first = end;
  }
  return units;
}

std::int64_t sum_over(const Chunk& chunk, const FsdpUnit& unit, std::int64_t PlacedBlock::*member) {
  std::int64_t sum = 0;
  for (std::size_t block = unit.first; block < unit.end; ++block) sum += chunk.blocks[block].*member;
  return sum;
}

std::int64_t most_in_unit(const Stage& stage, std::int64_t layers, std::int64_t PlacedBlock::*member) {
  std::int64_t most = 0;
  for (const Chunk& chunk : stage.chunks) {
    for (const FsdpUnit& unit : fsdp_units(chunk.blocks, layers))
      most = std::max(most, sum_over(chunk, unit, member));
  }
  return most;
}

}  // namespace orrery
