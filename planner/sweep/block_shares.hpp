// Blocks of neighbouring points, shared out to threads. Internal to sweep/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace orrery {

/// Divides blocks among threads. Neighbouring points share much that only one thread should make, and that
/// the others find later: threads thus begin far from each other, and a thread that has finished takes the
/// latter half of the largest remaining share.
class BlockShares {
 public:
  BlockShares(std::uint64_t blocks, unsigned threads) {
    for (std::uint64_t t = 0; t < threads; ++t)
      shares_.push_back({blocks * t / threads, blocks * (t + 1) / threads});
  }

  /// The next block of a thread; none where all are taken.
  std::optional<std::uint64_t> next(unsigned thread) {
    const std::lock_guard lock(mutex_);
    Share& own = shares_[thread];
    if (own.begin == own.end) take_half_of_largest(own);
    if (own.begin == own.end) return {};
    return own.begin++;
  }

 private:
  struct Share {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    [[nodiscard]] std::uint64_t size() const { return end - begin; }
  };

  void take_half_of_largest(Share& own) {
    Share& largest = *std::ranges::max_element(shares_, {}, &Share::size);
    const std::uint64_t middle = largest.begin + largest.size() / 2;
    own = {middle, largest.end};
    largest.end = middle;
  }

  std::mutex mutex_;
  std::vector<Share> shares_;
};

}  // namespace orrery
