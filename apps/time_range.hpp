// Spans of simulated time on the command line, such as 0.5..2s or 25..50%.
#pragma once

#include <string>

#include "orrery/units.hpp"

namespace orrery {

/// A span of a run, of which a share of the run's length may be a part.
struct TimeRange {
  struct End {
    double value = 0;
    double unit_ps = 0;  ///< 0: shares of the run in percent
  };
  End from;
  End to;
  bool to_the_end = true;  ///< `to` is not given

  /// @throws nothing; whether the run has these times is not known here
  [[nodiscard]] Picoseconds from_ps(Picoseconds makespan_ps) const;
  /// 0: the end of the run
  [[nodiscard]] Picoseconds to_ps(Picoseconds makespan_ps) const;
};

/// FROM..TO with units s, ms, us, ns or %, seconds where none is given; FROM without a unit has that of TO.
/// Either may be left out: the beginning, the end. Empty text is all of the run.
/// @throws InputError naming `option`
[[nodiscard]] TimeRange parse_time_range(const std::string& text, const std::string& option);

}  // namespace orrery
