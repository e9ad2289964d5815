#include "sim/bounds/stage_times.hpp"

#include <algorithm>

#include "sim/cost/issue_time.hpp"

namespace orrery {

StageTimes::StageTimes(const Plan& plan, const BlockTimes& times)
    : blocks_(times.blocks), map_(chunk_map(plan)) {
  for (const auto& gpus : times.of_rank) {
    auto& sums = sums_.emplace_back();
    for (const GpuBlockTimes& gpu : gpus) sums.push_back(sums_of(gpu));
  }
}

StageTimes::Sums StageTimes::sums_of(const GpuBlockTimes& gpu) const {
  const auto of = [&](std::int64_t kind) { return kind < 0 ? 0 : gpu.times[static_cast<std::size_t>(kind)]; };
  Sums sums{gpu.kind, {0}, of(blocks_.embedding), of(blocks_.head)};
  for (std::int64_t i = 0; i < blocks_.depths; ++i) sums.head = capped_sum(sums.head, of(blocks_.depth));
  for (const std::uint32_t kind : blocks_.layers) {
    const bool behind = static_cast<std::int64_t>(sums.before.size()) == blocks_.bridged_layer + 1;
    const Picoseconds before = capped_sum(sums.before.back(), behind ? of(blocks_.bridge) : 0);
    sums.before.push_back(capped_sum(before, of(kind)));
  }
  return sums;
}

Picoseconds StageTimes::time(std::size_t stage, std::int64_t from, std::int64_t to) const {
  Picoseconds slowest = 0;
  for (std::int64_t copy = 0; copy < map_.copies(); ++copy) {
    const ChunkPlace place = map_.place(static_cast<std::int64_t>(stage), copy);
    for (const Sums& sums : sums_[static_cast<std::size_t>(place.rank)])
      slowest = std::max(slowest, time(sums, stage, from, to));
  }
  return slowest;
}

Picoseconds StageTimes::time(const Sums& sums, std::size_t stage, std::int64_t from, std::int64_t to) const {
  Picoseconds sum = sums.before[static_cast<std::size_t>(to)] - sums.before[static_cast<std::size_t>(from)];
  if (stage == 0) sum = capped_sum(sum, sums.embedding);
  if (stage + 1 == stages()) sum = capped_sum(sum, sums.head);
  return sum;
}

Picoseconds StageTimes::of_rank(std::int64_t rank, std::uint64_t kind,
                                const std::vector<std::int64_t>& layers) const {
  const std::vector<Sums>& gpus = sums_[static_cast<std::size_t>(rank)];
  const Sums& sums = *std::ranges::find(gpus, kind, &Sums::kind);
  Picoseconds all = 0;
  std::int64_t from = 0;
  for (std::size_t stage = 0; stage < layers.size(); ++stage) {
    const std::int64_t to = from + layers[stage];
    for (std::int64_t copy = 0; copy < map_.copies(); ++copy) {
      if (map_.place(static_cast<std::int64_t>(stage), copy).rank == rank)
        all = capped_sum(all, time(sums, stage, from, to));
    }
    from = to;
  }
  return all;
}

}  // namespace orrery
