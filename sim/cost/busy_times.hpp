// Delays compute by other work that runs on its GPU at the same time.
#pragma once

#include <cstddef>
#include <vector>

#include "orrery/units.hpp"

namespace orrery {

/// A GPU that computes while something else runs on it, of which the times are known.
class BusyTimes {
 public:
  /// Adds a busy time. Times may come in any order, unless they change a `finish` that was returned before.
  void add(Picoseconds begin, Picoseconds end);
  /// Returns when compute of `duration` that begins at `start` ends, if it loses `share` of its pace in the
  /// busy times. Starts never fall.
  Picoseconds finish(Picoseconds start, Picoseconds duration, double share);

 private:
  struct Span {
    Picoseconds begin = 0;
    Picoseconds end = 0;
  };
  std::vector<Span> spans_;  ///< by begin
  std::size_t first_ = 0;    ///< those before it have ended
};

}  // namespace orrery
