// How long after the host's latest own operation it has issued each of the following ones.
#pragma once

#include <span>
#include <vector>

#include "orrery/workload.hpp"
#include "sim/cost/compute_cost.hpp"

namespace orrery {

/// [program][op]: for operations of Stream::compute and Stream::host, the least time between the end
/// of the host operation before them and their start; 0 for communication. Empty if no program has
/// operations of the host.
using HostLags = std::vector<std::vector<Picoseconds>>;

/// The host issues operations one after the other without waiting for the GPU. An operation of n
/// kernels, whose issue ends at e and which takes g, starts when its first kernel is issued, and not
/// earlier than e - g (n-1)/n, so that its last kernel does not run before it is issued.
/// @param works  prices of Workload::works
[[nodiscard]] HostLags host_lags(const Workload& workload, std::span<const ComputePrice> works);

}  // namespace orrery
