// How long after the host's latest own operation it has issued each of the following ones.
#pragma once

#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "orrery/workload.hpp"
#include "sim/cost/compute_cost.hpp"

namespace orrery {

/// Of a duration >= 0, up to the end of 64 bits; the engine refuses that and much less.
[[nodiscard]] constexpr Picoseconds capped_sum(Picoseconds a, Picoseconds duration) {
  constexpr Picoseconds kLongest = std::numeric_limits<Picoseconds>::max();
  return a > 0 && duration > kLongest - a ? kLongest : a + duration;
}

/// Earliest start of an operation whose issue begins `issued` after the host was last free. An operation of n
/// kernels, whose issue ends at e and which takes g, starts when its first kernel is issued, and not
/// earlier than e - g (n-1)/n, so that its last kernel does not run before it is issued.
[[nodiscard]] Picoseconds earliest_start(const ComputeWork& work, Picoseconds duration, Picoseconds issued);

/// The host of a rank: it issues the operations of a program one after the other without waiting for the
/// GPU.
class HostClock {
 public:
  /// @param works  prices of Workload::works
  HostClock(const Workload& workload, std::span<const ComputePrice> works);

  void begin_program() {
    hosted_ = false;
    issued_ = 0;
  }
  /// Of the next operation: for those of Stream::compute and Stream::host the least time between the end of
  /// the host operation before them and their start, for passes until the host begins to issue them; 0
  /// for communication and before the first operation of the host.
  Picoseconds lag_of(const Op& op) {
    if (op.stream == Stream::host) {
      hosted_ = true;
      return std::exchange(issued_, 0);
    }
    if (!hosted_) return 0;
    const Picoseconds before = issued_;
    switch (op.kind) {
      case Op::Kind::compute:
        issued_ = capped_sum(issued_, works_[op.work].issue);
        return capped_sum(before, works_[op.work].start);
      case Op::Kind::pass:
        issued_ = capped_sum(issued_, passes_[op.work]);
        return before;
      case Op::Kind::communicate:
        break;
    }
    issued_ = capped_sum(issued_, messages_[op.work].host_ps);
    return 0;
  }

 private:
  struct Work {
    Picoseconds start = 0;  ///< earliest_start() of what is issued at once
    Picoseconds issue = 0;
  };
  std::span<const Message> messages_;
  std::vector<Work> works_;
  std::vector<Picoseconds> passes_;  ///< time to issue each
  bool hosted_ = false;
  Picoseconds issued_ = 0;  ///< by the host since its latest own operation
};

/// Whether a program has operations of the host.
[[nodiscard]] bool is_hosted(const Workload& workload);

}  // namespace orrery
