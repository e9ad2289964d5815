// Walks along a line or a ring of `extent` places whose i-th cable joins places i and i+1.
#pragma once

#include <cstdint>

namespace orrery {

/// A ring closes from three places on; two places are joined by one cable only.
[[nodiscard]] constexpr bool closes(std::uint32_t extent, bool ring) { return ring && extent > 2; }

/// Cables of a line or ring.
[[nodiscard]] constexpr std::uint32_t cable_count(std::uint32_t extent, bool closed) {
  return closed ? extent : extent - 1;
}

/// Calls visit(cable, 0 upwards or 1 downwards) for each step from place to place, the shortest way
/// round; of two equal ways the upward one.
template <class Visit>
void walk(std::uint32_t from, std::uint32_t to, std::uint32_t extent, bool closed, Visit visit) {
  const std::uint32_t up_steps = to >= from ? to - from : to + (extent - from);
  const bool up = closed ? up_steps <= extent - up_steps : to > from;
  while (from != to) {
    if (up) {
      visit(from, 0U);
      from = from + 1 == extent ? 0 : from + 1;
    } else {
      from = from == 0 ? extent - 1 : from - 1;
      visit(from, 1U);
    }
  }
}

}  // namespace orrery
