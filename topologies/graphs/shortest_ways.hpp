// Shortest ways over explicit links. Boost.Graph does the search, and is met in the .cpp file only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "orrery/topology.hpp"

namespace orrery {

/// Where no way leads on.
inline constexpr std::uint32_t kNoLink = UINT32_MAX;

/// For every target t < targets and vertex v, at t * vertices + v: the first link of the way from v to
/// t with the least latency, of equal ones the fewest links, of equal ones the lowest first link.
/// kNoLink at the target itself and where there is no way.
[[nodiscard]] std::vector<std::uint32_t> next_links(std::span<const Link> links, std::uint32_t vertices,
                                                    std::uint32_t targets);

}  // namespace orrery
