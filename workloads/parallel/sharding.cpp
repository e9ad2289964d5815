// Sharding in groups: replicas that share one copy of what ZeRO shards, and those that hold the same shard
// of their copies (hybrid sharding, Zhao et al. 2023).
#include "workloads/parallel/kinds.hpp"

namespace orrery {
namespace {

constexpr std::array kShardStreams{Stream::data, Stream::data};

std::uint32_t shard_slots(const CommunicatorSpec& spec) { return spec.sharding_replicas > 0 ? 2 : 0; }

void form_shard_groups(const CommunicatorSpec& spec, std::uint32_t first, GroupWriter& to) {
  const RankGrid& grid = spec.grid;
  const std::int64_t replicas = grid.size(Axis::data);
  const std::int64_t size = spec.sharding_replicas;
  grid.for_each_group({Axis::data}, [&](RankCoordinates at) {
    const auto add_every = [&](std::int64_t begin, std::int64_t end, std::int64_t stride,
                               std::uint32_t slot) {
      for (at[Axis::data] = begin; at[Axis::data] < end; at[Axis::data] += stride)
        to.join(grid.rank(at), slot);
      to.close();
    };
    for (std::int64_t d = 0; d < replicas; d += size) add_every(d, d + size, 1, first);
    for (std::int64_t shard = 0; shard < size; ++shard) add_every(shard, replicas, size, first + 1);
  });
}

}  // namespace

constinit const CommunicatorKind kShardGroups{"sharding", Dimension::data, Slot::sharding,   kShardStreams,
                                              true,       shard_slots,     form_shard_groups};

}  // namespace orrery
