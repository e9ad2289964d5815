// How long after the host's latest own operation it has issued each of the following ones.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "orrery/workload.hpp"
#include "sim/cost/compute_cost.hpp"

namespace orrery {

/// [program][op]: for operations of Stream::compute and Stream::host, the least time between the end
/// of the host operation before them and their start, for passes until the host begins to issue them;
/// 0 for communication. Empty if no program has operations of the host.
using HostLags = std::vector<std::vector<Picoseconds>>;

/// The host issues operations one after the other without waiting for the GPU. An operation of n
/// kernels, whose issue ends at e and which takes g, starts when its first kernel is issued, and not
/// earlier than e - g (n-1)/n, so that its last kernel does not run before it is issued.
/// @param works  prices of Workload::works
[[nodiscard]] HostLags host_lags(const Workload& workload, std::span<const ComputePrice> works);

/// Earliest start of an operation whose issue begins `issued` after the host was last free.
[[nodiscard]] Picoseconds earliest_start(const ComputeWork& work, Picoseconds duration, Picoseconds issued);

/// Of a duration >= 0, up to the end of 64 bits; the engine refuses that and much less.
[[nodiscard]] constexpr Picoseconds capped_sum(Picoseconds a, Picoseconds duration) {
  constexpr Picoseconds kLongest = std::numeric_limits<Picoseconds>::max();
  return a > 0 && duration > kLongest - a ? kLongest : a + duration;
}

}  // namespace orrery
