// Tells what kernels lose to the messages that run beside them, on one rank: a kernel that ran alone
// elsewhere in the trace says how long it takes by itself. So a slow kernel and a disturbed one are told
// apart.
#pragma once

#include <cstdint>
#include <vector>

#include "studies/explain/measured/profile.hpp"

namespace orrery {

/// Holds, per span of a profile, times of kernels beside messages; 0 of all that is no kernel.
struct KernelContention {
  std::vector<std::int64_t> beside_ns;   ///< while a collective was on its way
  std::vector<std::int64_t> lost_ns;     ///< beyond the same kernel alone; estimated where that is unknown
  std::vector<std::int64_t> unknown_ns;  ///< beside, of kernels that too seldom ran alone to tell
};

/// Messages between pairs of stages and copies disturb nothing: they wait most of their time, or take engines
/// of their own.
/// @param ready_ns  of the profile, of LinedUp
[[nodiscard]] KernelContention contention_of(const Profile& profile,
                                             const std::vector<std::int64_t>& ready_ns);

}  // namespace orrery
