#include "sim/cost/busy_times.hpp"

#include <algorithm>
#include <cmath>

namespace orrery {

void BusyTimes::add(Picoseconds begin, Picoseconds end) {
  if (begin == end) return;
  const auto after =
      std::upper_bound(spans_.begin() + static_cast<std::ptrdiff_t>(first_), spans_.end(), begin,
                       [](Picoseconds at, const Span& span) { return at < span.begin; });
  spans_.insert(after, {begin, end});
}

Picoseconds BusyTimes::finish(Picoseconds start, Picoseconds duration, double share) {
  Picoseconds at = start;
  auto left = static_cast<double>(duration);
  for (std::size_t i = first_; i < spans_.size(); ++i) {
    const auto [begin, end] = spans_[i];
    if (end <= at) {
      if (i == first_ && end <= start) ++first_;
      continue;
    }
    const auto free = static_cast<double>(std::max<Picoseconds>(0, begin - at));
    if (left <= free) break;
    left -= free;
    at = std::max(at, begin);
    const double done = static_cast<double>(end - at) * (1 - share);
    if (left <= done) {
      left /= 1 - share;
      break;
    }
    left -= done;
    at = end;
  }
  return at + static_cast<Picoseconds>(std::floor(left + 0.5));
}

}  // namespace orrery
