// Computes the price of a pass: the time of its steps if no other traffic slows them.
#pragma once

#include <span>
#include <vector>

#include "orrery/workload.hpp"
#include "sim/cost/compute_cost.hpp"

namespace orrery {

/// A pass whose input and streams are ready at r ends at max(r, h + lead_ps) + duration_ps, if the host
/// begins at h to issue the operations that follow the one before it.
struct PassPrice {
  Picoseconds duration_ps = 0;
  Picoseconds lead_ps = 0;
  ComputePrice compute;       ///< compute of the GPU in that time
  Picoseconds slowed_ps = 0;  ///< the part of it that the pass's own traffic adds
};

/// @param kernel_sequences        prices of Workload::kernel_sequences
/// @param messages_ps  durations of Workload::messages; those of the pass are read
/// @param interference  share of its pace that compute loses beside messages of the pass
[[nodiscard]] PassPrice price_pass(const PassWork& pass, const Workload& workload,
                                   std::span<const ComputePrice> kernel_sequences,
                                   std::span<const Picoseconds> messages_ps, double interference = 0);

/// The messages of a pass, each with the number of its steps.
struct PassMessage {
  std::uint32_t message = 0;
  std::uint64_t steps = 0;
};
[[nodiscard]] std::vector<PassMessage> messages_of(const PassWork& pass);

}  // namespace orrery
