// Messages on their way, whenever they leave: under flow their legs share links with all others of the time,
// under alpha-beta each takes as long as alone. Knows neither the senders nor their reasons.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "orrery/topology.hpp"
#include "sim/cost/collective_cost.hpp"
#include "sim/network/flow_network.hpp"

namespace orrery {

class Transport {
 public:
  Transport(const Topology& topology, bool shares_links);

  /// Sends `price` at `now`, which is not before the last advance(). It lives until the message has arrived.
  /// @param name  reported by advance()
  void send(Picoseconds now, const TransferPrice& price, std::uint32_t name);
  /// Returns a time before which no message arrives; kNever if none is in flight. It may be early.
  [[nodiscard]] Picoseconds next_event();
  /// Moves to `now`, at most next_event(), and appends the ids of messages that arrive then, in ascending
  /// order.
  void advance(Picoseconds now, std::vector<std::uint32_t>& arrived);

 private:
  struct Moving {
    const TransferPrice* price = nullptr;
    std::size_t leg = 0;
    std::uint32_t name = 0;
  };
  using Timer = std::pair<Picoseconds, std::uint32_t>;  ///< slot whose latency has passed

  void wait_for_leg(Picoseconds now, std::uint32_t slot);
  void move_data(Picoseconds now, std::uint32_t slot);
  void end_leg(Picoseconds now, std::uint32_t slot, std::vector<std::uint32_t>& arrived);

  std::optional<FlowNetwork> network_;  ///< where links are shared
  std::vector<Moving> moving_;
  std::vector<std::uint32_t> free_slots_;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::vector<std::uint32_t> ended_;
};

}  // namespace orrery
