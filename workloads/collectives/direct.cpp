// Direct: every member exchanges with every other at once. All-reduce is a reduce-scatter and an
// all-gather of this kind.
#include <numeric>

#include "workloads/collectives/algorithms.hpp"

namespace orrery {
namespace {

bool one_to_one(Collective collective) {
  return collective == Collective::broadcast || collective == Collective::send_recv;
}

std::string_view direct_obstacle(Collective collective, const GroupShape& shape) {
  if (collective == Collective::send_recv && shape.members != 2) return "it is between two members";
  if (one_to_one(collective)) return "";
  const std::uint64_t messages = std::uint64_t{shape.members} * (shape.members - 1);
  return messages <= kMaxExchangeMessages ? "" : "its limit is 2,048 members";
}

Rounds direct_rounds(Collective collective, const GroupShape& shape) {
  Round round;
  if (one_to_one(collective)) {
    for (std::uint32_t to = 1; to < shape.members; ++to) round.messages.push_back({0, to, 1, 0});
    return {{round}, 1};
  }
  std::vector<std::uint32_t> all(shape.members);
  std::iota(all.begin(), all.end(), 0U);
  append_exchange(round, all, 1);
  round.repeat = collective == Collective::all_reduce ? 2 : 1;
  return {{round}, shape.members};
}

bool direct_automatic(Collective collective, const GroupShape&) {
  return collective == Collective::all_to_all || collective == Collective::send_recv;
}

}  // namespace

CollectiveAlgorithm direct_algorithm() {
  return {{"direct", "every member exchanges with every other at once"},
          direct_obstacle,
          direct_rounds,
          direct_automatic};
}

}  // namespace orrery
