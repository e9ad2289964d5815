// Holds the communicators of all ranks: which ranks form a group, and which groups a rank takes part in. Made
// by workloads/parallel/ from a CommunicatorSpec, read by sim/.
#pragma once

#include <cstdint>

#include "orrery/shared_array.hpp"

namespace orrery {

inline constexpr std::uint32_t kNoGroup = 0xffffffff;

struct CommunicatorSet {
  std::uint32_t slots = 0;                 ///< of each rank
  SharedArray<std::uint32_t> group_begin;  ///< per group + 1: range in group_members
  /// Ranks in the group's order; send_recv: sender, receiver, or one rank that has no partner.
  SharedArray<std::uint32_t> group_members;
  SharedArray<std::uint32_t> group_of;  ///< [rank * slots + slot]: group, or kNoGroup
};

}  // namespace orrery
