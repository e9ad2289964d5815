#include "sim/serving/kv_cache_usage.hpp"

#include <algorithm>

namespace orrery {

void KvCacheUsage::set(Picoseconds now, std::int64_t pages) {
  if (now > now_) add(now);
  pages_ = pages;
}

void KvCacheUsage::add(Picoseconds until) {
  total_ += static_cast<Int128>(until - now_) * pages_;
  while ((until - 1) / length_ >= static_cast<Picoseconds>(kMostIntervals)) make_longer();
  while (now_ < until) {
    const auto interval = static_cast<std::size_t>(now_ / length_);
    const Picoseconds end = std::min(until, static_cast<Picoseconds>(interval + 1) * length_);
    if (interval >= intervals_.size()) intervals_.resize(interval + 1);
    intervals_[interval] += static_cast<Int128>(end - now_) * pages_;
    now_ = end;
  }
}

void KvCacheUsage::make_longer() {
  length_ *= 2;
  for (std::size_t i = 0; i < intervals_.size(); ++i) {
    const Int128 sum = intervals_[i];
    intervals_[i] = 0;
    intervals_[i / 2] += sum;
  }
  intervals_.resize((intervals_.size() + 1) / 2);
}

std::vector<CacheUse> KvCacheUsage::use(std::int64_t pages, Picoseconds end) const {
  std::vector<CacheUse> use;
  for (std::size_t i = 0; i < intervals_.size(); ++i) {
    const Picoseconds from = static_cast<Picoseconds>(i) * length_;
    const Picoseconds until = std::min(from + length_, end);
    if (until <= from) break;
    const double held = static_cast<double>(intervals_[i]) / static_cast<double>(until - from);
    use.push_back({until, held / static_cast<double>(pages)});
  }
  return use;
}

}  // namespace orrery
