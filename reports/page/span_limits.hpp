// Chooses the ranks and the spans of time that a page shows if there are too many.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "orrery/units.hpp"

namespace orrery {

/// Returns `count` ranks spread evenly, the first and the last among them.
[[nodiscard]] inline std::vector<std::uint32_t> evenly_spread(const std::vector<std::uint32_t>& ranks,
                                                              std::size_t count) {
  std::vector<std::uint32_t> some;
  for (std::size_t i = 0; i < count; ++i)
    some.push_back(ranks[count > 1 ? i * (ranks.size() - 1) / (count - 1) : 0]);
  return some;
}

/// Returns a time before which at most `most` spans begin; `end` if all of them do.
template <class Timed>
[[nodiscard]] Picoseconds begin_of_rest(const std::vector<Timed>& all, std::uint64_t most, Picoseconds end) {
  if (all.size() <= most) return end;
  std::vector<Picoseconds> starts;
  starts.reserve(all.size());
  for (const Timed& one : all) starts.push_back(one.start_ps);
  const auto first_left_out = starts.begin() + static_cast<std::ptrdiff_t>(most);
  std::ranges::nth_element(starts, first_left_out);
  return *first_left_out;
}

/// Keeps the spans that begin before `until`, and the entries of `owners` for them.
template <class Timed>
void cut_spans(std::vector<Timed>& all, std::vector<std::uint32_t>& owners, Picoseconds until) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].start_ps >= until) continue;
    all[kept] = all[i];
    owners[kept++] = owners[i];
  }
  all.resize(kept);
  owners.resize(kept);
}

}  // namespace orrery
