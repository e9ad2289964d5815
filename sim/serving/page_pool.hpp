// Counts the KV blocks of a replica. Blocks are interchangeable, so only their number is tracked.
#pragma once

#include <algorithm>
#include <cstdint>

namespace orrery {

class PagePool {
 public:
  /// @param lasting  pages that are held all the time: the beginning that prompts have in common
  /// @param state    pages that the state of a request takes, whatever its length
  PagePool(std::int64_t pages, std::int64_t lasting, std::int64_t state)
      : pages_(pages), used_(lasting), state_(state) {}

  [[nodiscard]] bool take(std::int64_t pages) {
    if (pages > available()) return false;
    used_ += pages;
    most_used_ = std::max(most_used_, used_);
    return true;
  }
  void give_back(std::int64_t pages) { used_ -= pages; }

  /// Returns the pages that a request holds with `pages` pages of KV cache.
  [[nodiscard]] std::int64_t with_state(std::int64_t pages) const { return pages + state_; }
  [[nodiscard]] std::int64_t pages() const { return pages_; }
  [[nodiscard]] std::int64_t used() const { return used_; }
  [[nodiscard]] std::int64_t most_used() const { return most_used_; }
  [[nodiscard]] std::int64_t available() const { return pages_ - used_; }

 private:
  std::int64_t pages_;
  std::int64_t used_;
  std::int64_t state_;
  std::int64_t most_used_ = 0;
};

}  // namespace orrery
