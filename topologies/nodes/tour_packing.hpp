// Finds good rings in a small irregular network: which closed tours of its GPUs use the links best.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace orrery {

inline constexpr std::uint32_t kMaxTourMembers = 8;

/// Equal links between two GPUs, symmetric; 0 where there are none.
using LinkCounts = std::array<std::array<int, kMaxTourMembers>, kMaxTourMembers>;
/// The GPU to go to first on the way between two GPUs, which is the target where a link joins them.
/// No way is longer than two links.
using NextHops = std::array<std::array<std::uint32_t, kMaxTourMembers>, kMaxTourMembers>;

/// Tours of `members` (distinct, below kMaxTourMembers) in a fixed order: the largest set of tours over
/// direct links such that no link is used twice one way, each tour taken both ways. Where no tour keeps
/// to direct links, the one tour whose most loaded link is widest, both ways.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> pack_tours(const std::vector<std::uint32_t>& members,
                                                                 const LinkCounts& links,
                                                                 const NextHops& via);

}  // namespace orrery
