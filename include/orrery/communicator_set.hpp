// The communicators of all ranks: which ranks form a group, and which groups a rank takes part in. Made by
// workloads/parallel/ from a CommunicatorSpec, read by sim/.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace orrery {

inline constexpr std::uint32_t kNoGroup = 0xffffffff;

struct CommunicatorSet {
  std::uint32_t slots = 0;                 ///< of each rank
  std::vector<std::uint32_t> group_begin;  ///< per group + 1: range in group_members
  /// Ranks in the group's order; send_recv: sender, receiver, or one rank that has no partner.
  std::vector<std::uint32_t> group_members;
  std::vector<std::uint32_t> group_of;  ///< [rank * slots + slot]: group, or kNoGroup
};

}  // namespace orrery
