// Computes how long after the host's latest own operation it issues each of the following ones.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "orrery/workload.hpp"
#include "sim/cost/compute_cost.hpp"
#include "sim/cost/issue_time.hpp"
#include "sim/matching/channels.hpp"

namespace orrery {

/// The host of a rank issues the operations of a program one after the other without waiting for the GPU, so
/// an operation waits for the sum of the issue times since the host's latest own operation. These sums are a
/// tree: few, as passes repeat, and the same at any cost of operations.
class HostLags {
 public:
  /// Adds the lags of all programs: their numbers, per operation, one program after the other; kNone for
  /// communication and before the first operation of the host.
  std::vector<std::uint32_t> add(const Workload& workload);
  /// Returns lags by number: for kernel sequences the least time between the end of the host operation before
  /// them and their start, for passes until the host begins to issue them.
  /// @param kernel_sequences  prices of Workload::kernel_sequences
  [[nodiscard]] std::vector<Picoseconds> values(const Workload& workload,
                                                std::span<const ComputePrice> kernel_sequences) const;

 private:
  /// Describes an operation that is issued after `before` and its predecessors; kNone: after the host's own.
  struct Issue {
    std::uint32_t before = kNone;
    std::uint32_t work = 0;
    Op::Kind kind = Op::Kind::compute;
    bool host = false;  ///< one of its own, before which nothing counts any more
  };
  class Tree;
  SharedArray<Issue> issues_;
};

}  // namespace orrery
