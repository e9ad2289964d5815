// Forms sharding groups: ranks with the same weights that share one sharded copy under ZeRO, and ranks that
// hold the same shard of their copies (hybrid sharding, Zhao et al. 2023).
#include <vector>

#include "workloads/parallel/kinds.hpp"

namespace orrery {
namespace {

constexpr std::array kShardStreams{Stream::data, Stream::copies};

std::uint32_t shard_slots(const CommunicatorSpec& spec) { return spec.sharding_ranks > 0 ? 2 : 0; }

void form_shard_groups(const CommunicatorSpec& spec, std::uint32_t first, GroupWriter& to) {
  const std::initializer_list<Axis> copied{Axis::context, Axis::data};
  const auto size = static_cast<std::size_t>(spec.sharding_ranks);
  std::vector<std::uint32_t> copies;
  spec.grid.for_each_group(copied, [&](const RankCoordinates& at) {
    copies.clear();
    spec.grid.for_each_member(at, copied, [&](std::uint32_t rank) { copies.push_back(rank); });
    const auto add_every = [&](std::size_t i, std::size_t end, std::size_t stride, std::uint32_t slot) {
      for (; i < end; i += stride) to.join(copies[i], slot);
      to.close();
    };
    for (std::size_t i = 0; i < copies.size(); i += size) add_every(i, i + size, 1, first);
    for (std::size_t shard = 0; shard < size; ++shard) add_every(shard, copies.size(), size, first + 1);
  });
}

}  // namespace

constinit const CommunicatorKind kShardGroups{"sharding", Dimension::data, Slot::sharding,   kShardStreams,
                                              true,       shard_slots,     form_shard_groups};

}  // namespace orrery
