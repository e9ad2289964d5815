// Times between the deliveries of tokens to a request, of all requests: counted, not kept, since there may be
// billions of them.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/serving.hpp"
#include "orrery/units.hpp"

namespace orrery {

class TokenGaps {
 public:
  void add(Picoseconds gap, std::int64_t count);
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] Int128 sum_ps() const { return sum_ps_; }
  /// The mean is exact; a percentile is a gap that occurred, at most 0.1 % above that of the nearest rank.
  /// All 0 where there are none.
  [[nodiscard]] Distribution distribution() const;

 private:
  /// Gaps that agree in their eleven leading bits.
  struct Bin {
    std::int64_t count = 0;
    Picoseconds longest = 0;
  };
  [[nodiscard]] double at_percent(std::int64_t percent) const;

  std::vector<Bin> bins_;  ///< by length
  std::int64_t count_ = 0;
  Int128 sum_ps_ = 0;
};

}  // namespace orrery
