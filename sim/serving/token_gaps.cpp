#include "sim/serving/token_gaps.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace orrery {
namespace {

/// Returns the bin of a gap: the gap itself up to 2047, and above that its eleven leading bits behind the
/// number of the others.
std::size_t bin_of(Picoseconds gap) {
  constexpr int kLeading = 11;
  const auto bits = static_cast<std::uint64_t>(gap);
  const int dropped = std::max(0, static_cast<int>(std::bit_width(bits)) - kLeading);
  return (static_cast<std::size_t>(dropped) << (kLeading - 1)) + (bits >> dropped);
}

}  // namespace

void TokenGaps::add(Picoseconds gap, std::int64_t count) {
  if (count == 0) return;
  const std::size_t at = bin_of(gap);
  if (at >= bins_.size()) bins_.resize(at + 1);
  bins_[at].count += count;
  bins_[at].longest = std::max(bins_[at].longest, gap);
  count_ += count;
  sum_ps_ += static_cast<Int128>(gap) * count;
}

double TokenGaps::at_percent(std::int64_t percent) const {
  const auto rank = static_cast<std::int64_t>((static_cast<Int128>(percent) * count_ + 99) / 100);
  std::int64_t before = 0;
  for (const Bin& bin : bins_)
    if ((before += bin.count) >= rank) return to_seconds(bin.longest);
  return 0;
}

Distribution TokenGaps::distribution() const {
  if (count_ == 0) return {};
  return {static_cast<double>(sum_ps_) * 1e-12 / static_cast<double>(count_), at_percent(50), at_percent(90),
          at_percent(95), at_percent(99)};
}

}  // namespace orrery
