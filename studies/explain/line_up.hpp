// Lines the profiles of several ranks up: their clocks, and when all members of a communicator had come to a
// message. Waiting for the last of them is not the message's fault.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "studies/explain/measured/profile.hpp"

namespace orrery {

struct LinedUp {
  /// Per profile: what its clock is ahead of that of the first one.
  std::vector<std::int64_t> clock_ahead_ns;
  /// Per profile and span, on its own clock: when a message could begin. The start of the span where nothing
  /// tells, and of all that is no message.
  std::vector<std::vector<std::int64_t>> ready_ns;
  std::uint64_t met = 0;        ///< messages that were found on two ranks or more
  std::uint64_t unmatched = 0;  ///< the others
};

[[nodiscard]] LinedUp line_up(const std::vector<Profile>& profiles);

}  // namespace orrery
