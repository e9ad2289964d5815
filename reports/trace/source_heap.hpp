// Finds the earliest of many sorted sequences of trace events: a binary heap of (time, source). At one time
// the lower source comes first.
#pragma once

#include <cstdint>
#include <vector>

#include "reports/trace/counters.hpp"

namespace orrery {

class SourceHeap {
 public:
  struct Entry {
    Nanoseconds time;
    std::uint32_t source;
    bool operator<(const Entry& other) const {
      return time != other.time ? time < other.time : source < other.source;
    }
  };

  /// Adds a source whose first event is at `time` (kNoTime: it has none); `heapify` follows the last.
  void add(Nanoseconds time, std::uint32_t source) {
    if (time != kNoTime) entries_.push_back({time, source});
  }
  void heapify() {
    for (std::size_t i = entries_.size() / 2; i-- > 0;) sink(i);
  }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] const Entry& top() const { return entries_.front(); }
  /// The top source's following event is at `time`; kNoTime removes it.
  void replace_top(Nanoseconds time) {
    if (time == kNoTime) {
      entries_.front() = entries_.back();
      entries_.pop_back();
    } else {
      entries_.front().time = time;
    }
    if (!entries_.empty()) sink(0);
  }

 private:
  void sink(std::size_t i) {
    const Entry moving = entries_[i];
    for (std::size_t child = 2 * i + 1; child < entries_.size(); child = 2 * i + 1) {
      if (child + 1 < entries_.size() && entries_[child + 1] < entries_[child]) ++child;
      if (!(entries_[child] < moving)) break;
      entries_[i] = entries_[child];
      i = child;
    }
    entries_[i] = moving;
  }

  std::vector<Entry> entries_;
};

}  // namespace orrery
