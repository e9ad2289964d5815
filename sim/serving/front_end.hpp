// Simulates the front end of a serving engine: one process that requests and messages queue for, in the order
// in which they come.
#pragma once

#include <algorithm>
#include <cstdint>

#include "orrery/units.hpp"

namespace orrery {

struct FrontEnd {
  Picoseconds delay_ps = 0;    ///< of every request, beside the process
  Picoseconds request_ps = 0;  ///< time of the process for a request
  Picoseconds message_ps = 0;  ///< time of the process for a message of new tokens to a client
};

class FrontEndServer {
 public:
  explicit FrontEndServer(const FrontEnd& times) : times_(times) {}

  /// Returns when a request that comes now is in the queue of a replica.
  Picoseconds take_request(Picoseconds now) { return work(now, times_.request_ps) + times_.delay_ps; }
  /// Returns when the last of so many messages has left, if all of them come now.
  Picoseconds send(Picoseconds now, std::int64_t messages) { return work(now, times_.message_ps * messages); }

 private:
  /// Work that takes no time waits for no turn.
  Picoseconds work(Picoseconds now, Picoseconds time) {
    if (time == 0) return now;
    free_at_ = std::max(now, free_at_) + time;
    return free_at_;
  }

  FrontEnd times_;
  Picoseconds free_at_ = 0;
};

}  // namespace orrery
