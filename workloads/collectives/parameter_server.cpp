// Parameter server (Li et al. 2014): everyone sends its values to servers, which add them up and send the
// sums back. Servers are members of the group, evenly spread over it, with an equal share of the values
// each; with as many servers as members that is the direct all-reduce.
#include "workloads/collectives/algorithms.hpp"

namespace orrery {

std::string_view server_obstacle(const GroupShape& shape, std::uint32_t servers) {
  if (servers > shape.members) return "it has more servers than members";
  const std::uint64_t messages = std::uint64_t{shape.members} * servers;
  return messages <= kMaxExchangeMessages ? "" : "its limit is 4,194,304 messages, members x servers";
}

Rounds server_rounds(const GroupShape& shape, std::uint32_t servers) {
  Round push;
  Round pull;
  for (std::uint32_t s = 0; s < servers; ++s) {
    const auto server = static_cast<std::uint32_t>(std::uint64_t{s} * shape.members / servers);
    for (std::uint32_t member = 0; member < shape.members; ++member) {
      if (member == server) continue;
      push.messages.push_back({member, server, 1, 0});
      pull.messages.push_back({server, member, 1, 0});
    }
  }
  return {{std::move(push), std::move(pull)}, servers};
}

}  // namespace orrery
