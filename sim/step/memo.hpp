// Shares results between runs, by the content they were made from: one table for all kinds of values and all
// threads. Values are immutable, so a holder may use one after the memo has dropped it.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "orrery/content_hash.hpp"

namespace orrery {

/// Names the kind of a value; keys of different kinds never collide.
enum class MemoKind : std::uint8_t {
  machine,
  communicators,
  programs,
  channels,
  routes,
  prices,
  classes,
  tasks,
  step,
  periods,
  groupings,
  layouts,
  period_tasks,
  sync_layout,
  stage_layers,
  replica_batches,
  interference,
};

/// Bounded by bytes: the values used longest ago go first.
class Memo {
 public:
  static constexpr std::size_t kUsualBytes = 1'000'000'000;
  explicit Memo(std::size_t most_bytes = kUsualBytes) : most_bytes_(most_bytes) {}

  /// Returns the cached value of that content, or else the result of `make`, which is then cached.
  /// @tparam Value  with bytes(), its approximate size
  template <class Value, class Make>
  std::shared_ptr<const Value> get(MemoKind kind, ContentHash key, Make make) {
    if (auto known = find<Value>(kind, key)) return known;
    auto made = std::make_shared<const Value>(make());
    put<Value>(kind, key, made);
    return made;
  }

  /// Null where there is none.
  template <class Value>
  std::shared_ptr<const Value> find(MemoKind kind, ContentHash key) {
    key.append(static_cast<std::uint64_t>(kind));
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return nullptr;
    by_use_.splice(by_use_.begin(), by_use_, found->second.use);
    return std::static_pointer_cast<const Value>(found->second.value);
  }

  template <class Value>
  void put(MemoKind kind, ContentHash key, std::shared_ptr<const Value> value) {
    key.append(static_cast<std::uint64_t>(kind));
    const std::size_t bytes = value->bytes() + kEntryBytes;
    std::vector<std::shared_ptr<const void>> dropped;  // freed after the lock
    const std::lock_guard lock(mutex_);
    const auto [at, is_new] = entries_.try_emplace(key);
    Entry& entry = at->second;
    if (is_new) {
      by_use_.push_front(key);
      entry.use = by_use_.begin();
    } else {
      bytes_ -= entry.bytes;
      dropped.push_back(std::move(entry.value));
    }
    entry.value = std::move(value);
    entry.bytes = bytes;
    bytes_ += bytes;
    while (bytes_ > most_bytes_ && by_use_.size() > 1) dropped.push_back(drop_oldest());
  }

  [[nodiscard]] std::size_t bytes() {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  static constexpr std::size_t kEntryBytes = 200;  ///< of the table, the order of use and allocations
  struct Entry {
    std::shared_ptr<const void> value;
    std::size_t bytes = 0;
    std::list<ContentHash>::iterator use;
  };

  std::shared_ptr<const void> drop_oldest() {
    const auto oldest = entries_.find(by_use_.back());
    std::shared_ptr<const void> value = std::move(oldest->second.value);
    bytes_ -= oldest->second.bytes;
    entries_.erase(oldest);
    by_use_.pop_back();
    return value;
  }

  std::mutex mutex_;
  std::unordered_map<ContentHash, Entry, ContentHasher> entries_;
  std::list<ContentHash> by_use_;  ///< the latest first
  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
};

}  // namespace orrery
