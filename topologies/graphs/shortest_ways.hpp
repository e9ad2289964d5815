// Finds shortest routes over explicit links. Boost.Graph does the search, and is included in the .cpp file
// only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "orrery/topology.hpp"

namespace orrery {

/// Marks that no route leads on.
inline constexpr std::uint32_t kNoLink = UINT32_MAX;

/// Returns, for every target t < targets and vertex v, at t * vertices + v: the first link of the route from
/// v to t with the least latency, of equal ones the fewest links, of equal ones the lowest first link.
[[nodiscard]] std::vector<std::uint32_t> next_links(std::span<const Link> links, std::uint32_t vertices,
                                                    std::uint32_t targets);

}  // namespace orrery
