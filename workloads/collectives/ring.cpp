// Ring: n - 1 steps each for reduce-scatter and all-gather, of 1/n of the data; a broadcast goes
// down the ring as a chain of many chunks (NCCL's ring primitives; Thakur et al. 2005, section 4).
#include <algorithm>

#include "workloads/collectives/algorithms.hpp"

namespace orrery {
namespace {

std::string_view ring_obstacle(Collective collective, const GroupShape&) {
  const bool able = collective == Collective::all_reduce || collective == Collective::all_gather ||
                    collective == Collective::reduce_scatter || collective == Collective::broadcast;
  return able ? "" : "it does all-reduce, all-gather, reduce-scatter and broadcast only";
}

/// Every second node is walked backwards: a ring then enters a node where it left the last one, by
/// local position, and so stays on one rail (NCCL's NCCL_CROSS_NIC=2).
std::vector<std::uint32_t> walk(const std::vector<std::span<const std::uint32_t>>& path) {
  std::vector<std::uint32_t> order;
  for (std::size_t node = 0; node < path.size(); ++node) {
    order.insert(order.end(), path[node].begin(), path[node].end());
    if (node % 2 == 1)
      std::reverse(order.end() - static_cast<std::ptrdiff_t>(path[node].size()), order.end());
  }
  return order;
}

/// The ring without the hop into position 0. Stages stay counted from the start of the ring, so that
/// the stages in which the rings of a group cross between nodes coincide.
void append_broadcast(Round& round, const std::vector<std::uint32_t>& order) {
  append_ring(round, order, 1);
  std::erase_if(round.messages, [](const RoundMessage& message) { return message.to == 0; });
}

Rounds ring_rounds(Collective collective, const GroupShape& shape) {
  const bool broadcast = collective == Collective::broadcast;
  Round round;
  for (const auto& path : node_paths(shape)) {
    if (broadcast) {
      append_broadcast(round, walk(path));
    } else {
      append_ring(round, walk(path), 1);
    }
  }
  const std::int64_t steps = shape.members - 1;
  round.hops = broadcast ? steps : 1;
  round.repeat = broadcast ? 1 : collective == Collective::all_reduce ? 2 * steps : steps;
  const auto channels = static_cast<std::int64_t>(shape.rings.size());
  return {{round}, broadcast ? channels : channels * shape.members, false, true};
}

bool ring_automatic(Collective, const GroupShape&) { return true; }

}  // namespace

CollectiveAlgorithm ring_algorithm() {
  return {{"ring", "each member passes 1/n of the data to the next, n - 1 times; one ring per NIC"},
          ring_obstacle,
          ring_rounds,
          ring_automatic};
}

}  // namespace orrery
