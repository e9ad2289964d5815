#include "reports/trace/counters.hpp"

#include <algorithm>
#include <cmath>

#include "sim/metrics/traffic.hpp"

namespace orrery {

MemoryCounter::MemoryCounter(const TracePlan& plan, std::uint32_t rank, Nanoseconds window)
    : plan_(plan), rank_(rank), window_(window) {
  const std::uint32_t program = plan.program_of(rank);
  const StageMemory& memory = plan.run.workload.stage_memory[program];
  value_ = memory.standing;
  if (plan.all_steps) time_ = 0;
  for (std::size_t s = 0; s < plan.streams[program].size(); ++s) {
    const auto& all = plan.streams[program][s];
    if (!all.empty()) time_ = std::min(time_, plan.span(rank, all.front()).start);
    Track track{&plan.memory_ops[program][s]};
    load(track);
    if (track.time != kNoTime) tracks_.push_back(track);
  }
}

/// At the start of the next operation of a track, or at its finish.
Bytes MemoryCounter::change(const Track& track) const {
  const Op& op = plan_.op(rank_, (*track.ops)[track.next]);
  return track.starts ? op.memory_at_start : op.memory_at_finish;
}

void MemoryCounter::advance(Track& track) {
  track.next += track.starts ? 0 : 1;
  track.starts = !track.starts;
}

void MemoryCounter::load(Track& track) {
  while (track.next < track.ops->size() && change(track) == 0) advance(track);
  if (track.next == track.ops->size()) {
    track.time = kNoTime;
    return;
  }
  const std::uint32_t op = (*track.ops)[track.next];
  const Span span = plan_.span(rank_, op);
  track.time = track.starts ? span.start : span.finish;
}

Nanoseconds MemoryCounter::next_change() const {
  Nanoseconds time = kNoTime;
  for (const Track& track : tracks_) time = std::min(time, track.time);
  return time;
}

void MemoryCounter::apply_changes_at(Nanoseconds time) {
  for (Track& track : tracks_) {
    while (track.time == time) {
      value_ += change(track);
      advance(track);
      load(track);
    }
  }
}

Bytes MemoryCounter::take() {
  apply_changes_at(time_);
  Bytes highest = value_;
  const Nanoseconds end = time_ + window_;
  time_ = next_change();
  while (time_ < end) {
    const Nanoseconds change = time_;
    apply_changes_at(change);
    highest = std::max(highest, value_);
    time_ = next_change();
    if (time_ == kNoTime && value_ != highest) time_ = change;  // the value that remains
    if (time_ == change) break;
  }
  return highest;
}

LinkCounter::LinkCounter(const TracePlan& plan, std::uint32_t rank, Nanoseconds window)
    : plan_(plan), rank_(rank), window_(window) {
  for (const auto& list : plan.streams[plan.program_of(rank)]) {
    bool sends = false;
    for (const std::uint32_t index : list) {
      const Op& op = plan.op(rank, index);
      if (op.kind != Op::Kind::communicate || bytes_of(op) <= 0) continue;
      used_[static_cast<std::size_t>(plan.run.workload.messages[op.work].dimension)] = true;
      sends = true;
    }
    if (!sends) continue;
    SpanCursor& cursor = cursors_.emplace_back();
    cursor.ops = &list;
    cursor.load(plan, rank);
    time_ = std::min(time_, cursor.span.start);
  }
}

/// Streams of communication have kernels of their own beside it, which send nothing.
double LinkCounter::bytes_of(const Op& op) const {
  if (op.kind != Op::Kind::communicate) return 0;
  const auto members = plan_.members(rank_, op);
  return bytes_sent(plan_.run.workload.messages[op.work], members.size(), members[0] == rank_);
}

/// First start or finish of the stream at `time` or later.
Nanoseconds LinkCounter::first_change_from(SpanCursor cursor, Nanoseconds time) const {
  while (cursor.span.finish < time) cursor.load(plan_, rank_);
  return cursor.span.start >= time ? cursor.span.start : cursor.span.finish;
}

/// Adds the bytes that the stream sends from time_ to `end`, at an even pace over each communication.
void LinkCounter::add_bytes(SpanCursor& cursor, Nanoseconds end,
                            std::array<double, kDimensionCount>& bytes) const {
  while (cursor.span.start < end) {
    const Span span = cursor.span;
    const Nanoseconds overlap = std::min(end, span.finish) - std::max(time_, span.start);
    const Op& op = plan_.op(rank_, cursor.op);
    if (overlap > 0 && op.kind == Op::Kind::communicate) {
      const auto dimension = static_cast<std::size_t>(plan_.run.workload.messages[op.work].dimension);
      bytes[dimension] +=
          bytes_of(op) * static_cast<double>(overlap) / static_cast<double>(span.finish - span.start);
    }
    if (span.finish > end) break;
    cursor.load(plan_, rank_);
  }
}

LinkCounter::Rates LinkCounter::take() {
  Nanoseconds end = kNoTime;
  for (const SpanCursor& cursor : cursors_) {
    end = std::min(end, first_change_from(cursor, time_ + std::max<Nanoseconds>(window_, 1)));
  }
  if (end == kNoTime) {  // within the last window: up to the last finish
    for (SpanCursor cursor : cursors_) {
      for (; cursor.span.start != kNoTime; cursor.load(plan_, rank_)) {
        end = end == kNoTime ? cursor.span.finish : std::max(end, cursor.span.finish);
      }
    }
  }
  Rates rates{};
  if (end != kNoTime && end > time_) {
    std::array<double, kDimensionCount> bytes{};
    for (SpanCursor& cursor : cursors_) add_bytes(cursor, end, bytes);
    for (std::size_t d = 0; d < kDimensionCount; ++d) {
      rates[d] = std::llround(bytes[d] * 1e9 / static_cast<double>(end - time_));
    }
    time_ = end;
  } else {
    time_ = kNoTime;
  }
  return rates;
}

}  // namespace orrery
