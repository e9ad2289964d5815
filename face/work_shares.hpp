// Spreads numbered pieces of work over workers such that neighbours stay together. For programs that simulate
// a stream of experiments: neighbours share much that only one worker should make, and which the others find
// later.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace orrery {

/// Pieces that have come and that no worker has begun: for each worker some that follow each other. A piece
/// has a `ticket`, its number. Safe for threads.
template <class Piece>
class WorkShares {
 public:
  explicit WorkShares(unsigned workers) : of_(workers) {}

  /// The next piece of a worker's own share.
  std::optional<Piece> next(unsigned worker) {
    const std::lock_guard lock(mutex_);
    return first_of(of_[worker]);
  }

  /// The first piece of all shares.
  std::optional<Piece> first() {
    const std::lock_guard lock(mutex_);
    const auto ticket = [](const std::deque<Piece>& share) {
      return share.empty() ? kNever : share.front().ticket;
    };
    return first_of(*std::ranges::min_element(of_, {}, ticket));
  }

  void give(unsigned worker, std::deque<Piece> pieces) {
    const std::lock_guard lock(mutex_);
    of_[worker] = std::move(pieces);
  }

  /// Gives a worker that has none the latter half of the largest share. False where all are empty.
  bool halve_largest(unsigned worker) {
    const std::lock_guard lock(mutex_);
    const auto size = [](const std::deque<Piece>& share) { return share.size(); };
    std::deque<Piece>& largest = *std::ranges::max_element(of_, {}, size);
    const auto middle = largest.begin() + std::ssize(largest) / 2;
    std::move(middle, largest.end(), std::back_inserter(of_[worker]));
    largest.erase(middle, largest.end());
    return !of_[worker].empty();
  }

 private:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  static std::optional<Piece> first_of(std::deque<Piece>& share) {
    if (share.empty()) return {};
    std::optional<Piece> piece = std::move(share.front());
    share.pop_front();
    return piece;
  }

  std::mutex mutex_;
  std::vector<std::deque<Piece>> of_;
};

}  // namespace orrery
