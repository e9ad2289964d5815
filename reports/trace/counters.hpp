// Samples the two counter tracks of a rank in a trace, as sequences of samples in order of time. A sample
// holds until the next one; samples fall on real changes, and at least a window apart, so that a long trace
// is not made of counters: a window of 0 gives every change.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "reports/trace/plan.hpp"

namespace orrery {

/// Walks one stream of a rank.
struct SpanCursor {
  const std::vector<std::uint32_t>* ops = nullptr;
  std::size_t next = 0;  ///< index into ops of the next one
  std::uint32_t op = 0;  ///< current operation
  Span span{kNoTime, kNoTime};

  /// False, with a span at kNoTime, when the stream is done.
  bool load(const TracePlan& plan, std::uint32_t rank) {
    if (next == ops->size()) {
      span = {kNoTime, kNoTime};
      return false;
    }
    op = (*ops)[next++];
    span = plan.span(rank, op);
    return true;
  }
};

/// Tracks memory in use: the memory held from step to step, and that of the operations so far. A sample is
/// the highest value until the next one.
class MemoryCounter {
 public:
  MemoryCounter(const TracePlan& plan, std::uint32_t rank, Nanoseconds window);
  /// Time of the next sample; kNoTime when there is none.
  [[nodiscard]] Nanoseconds time() const { return time_; }
  /// Returns its value in bytes and moves on to the following sample.
  Bytes take();

 private:
  struct Track {
    const std::vector<std::uint32_t>* ops = nullptr;
    std::size_t next = 0;
    bool starts = true;          // the next change is at the start of that operation, not its finish
    Nanoseconds time = kNoTime;  // of that
  };
  [[nodiscard]] Bytes change(const Track& track) const;
  static void advance(Track& track);
  void load(Track& track);
  [[nodiscard]] Nanoseconds next_change() const;
  void apply_changes_at(Nanoseconds time);

  const TracePlan& plan_;
  std::uint32_t rank_;
  Nanoseconds window_;
  std::vector<Track> tracks_;
  Bytes value_ = 0;
  Nanoseconds time_ = kNoTime;
};

/// Bytes this GPU's communications send over their duration, by Dimension. A sample is the mean until
/// the next one.
class LinkCounter {
 public:
  using Rates = std::array<std::int64_t, kDimensionCount>;  ///< bytes/s

  LinkCounter(const TracePlan& plan, std::uint32_t rank, Nanoseconds window);
  [[nodiscard]] Nanoseconds time() const { return time_; }
  /// Returns its values and moves on to the following sample.
  Rates take();
  [[nodiscard]] bool uses(std::size_t dimension) const { return used_[dimension]; }

 private:
  [[nodiscard]] Nanoseconds first_change_from(SpanCursor cursor, Nanoseconds time) const;
  void add_bytes(SpanCursor& cursor, Nanoseconds end, std::array<double, kDimensionCount>& bytes) const;
  [[nodiscard]] double bytes_of(const Op& op) const;

  const TracePlan& plan_;
  std::uint32_t rank_;
  Nanoseconds window_;
  std::vector<SpanCursor> cursors_;
  std::array<bool, kDimensionCount> used_{};
  Nanoseconds time_ = kNoTime;
};

}  // namespace orrery
