// Records KV cache usage over time: exact sums, and means over intervals that grow as the run goes on, so
// that a run of any length has a few hundred of them.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/serving.hpp"
#include "orrery/units.hpp"

namespace orrery {

class KvCacheUsage {
 public:
  /// Sets the number of pages in use from `now` on; times do not fall.
  void set(Picoseconds now, std::int64_t pages);

  /// Page-picoseconds up to the last change.
  [[nodiscard]] Int128 total() const { return total_; }
  /// Shares of `pages` by interval, up to `end`.
  [[nodiscard]] std::vector<CacheUse> use(std::int64_t pages, Picoseconds end) const;

 private:
  static constexpr std::size_t kMostIntervals = 512;
  void add(Picoseconds until);
  void make_longer();

  Picoseconds now_ = 0;
  std::int64_t pages_ = 0;
  Int128 total_ = 0;
  Picoseconds length_ = kPicosecondsPerMicrosecond;  ///< of an interval
  std::vector<Int128> intervals_;                    ///< page-picoseconds
};

}  // namespace orrery
