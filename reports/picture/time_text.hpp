// Times as text, and the round times that an axis names. Integers throughout, so that all machines agree.
#pragma once

#include <string>
#include <vector>

#include "orrery/units.hpp"

namespace orrery {

/// Returns a time such as "24.252 s" or "300.764 ms": in the largest unit that it is one of, to a thousandth
/// of it at most.
[[nodiscard]] std::string time_text(Picoseconds time);

struct TimeTick {
  Picoseconds at_ps = 0;
  std::string label;  ///< such as "0.5 s"; all of an axis in one unit with as many decimals
};

/// Multiples of 1, 2 or 5 times a power of ten from one time to a later one, of which at most `most` (at
/// least 1) steps fit in between.
[[nodiscard]] std::vector<TimeTick> time_ticks(Picoseconds from_ps, Picoseconds to_ps, std::int64_t most);

}  // namespace orrery
