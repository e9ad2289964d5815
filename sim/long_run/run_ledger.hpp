// Accounts for the time of a run: steps that count, steps that are thrown away, and all between; and keeps
// the checkpoints that a run may go back to. Internal to sim/long_run/.
#pragma once

#include <optional>

#include "sim/long_run/run_simulation.hpp"

namespace orrery {

/// Holds what has been learnt, and the time it took.
struct Counted {
  std::int64_t progress = 0;  ///< steps times the replicas that made them
  LongPicoseconds useful_ps = 0;
  LongPicoseconds degraded_ps = 0;
  LongPicoseconds warm_up_ps = 0;

  [[nodiscard]] LongPicoseconds total() const { return useful_ps + degraded_ps + warm_up_ps; }
};

/// Steps in a row, and what one of them takes.
struct StepsMade {
  std::int64_t steps = 0;
  Picoseconds step_ps = 0;
  Picoseconds healthy_ps = 0;
  Picoseconds warm_up_ps = 0;
  std::int64_t progress = 0;  ///< replicas that share in each
  std::int64_t replicas = 1;  ///< all
};

class RunLedger {
 public:
  explicit RunLedger(bool keeps_spans) : keeps_spans_(keeps_spans) {}

  [[nodiscard]] LongPicoseconds now() const { return now_; }
  [[nodiscard]] const Counted& counted() const { return counted_; }
  [[nodiscard]] bool keeps_spans() const { return keeps_spans_; }

  void spend(LongPicoseconds duration, TimeUse use) {
    time(use) += duration;
    pass(duration, use == TimeUse::lost_steps ? TimeUse::useful : use);
  }

  void make_steps(const StepsMade& made) {
    const LongPicoseconds all = LongPicoseconds{made.steps} * made.step_ps;
    const LongPicoseconds warm_up = LongPicoseconds{made.steps} * made.warm_up_ps;
    const LongPicoseconds useful =
        LongPicoseconds{made.steps} * made.healthy_ps * made.progress / made.replicas;
    counted_.progress += made.steps * made.progress;
    counted_.useful_ps += useful;
    counted_.warm_up_ps += warm_up;
    counted_.degraded_ps += all - warm_up - useful;
    pass(all, TimeUse::useful);
  }

  /// Throws away what was learnt since `to`.
  void roll_back(const Counted& to) {
    time(TimeUse::lost_steps) += counted_.total() - to.total();
    counted_ = to;
  }

  [[nodiscard]] RunOutcome outcome() const {
    RunOutcome outcome;
    outcome.wall_ps = now_;
    outcome.time_ps = time_;
    outcome.time_ps[static_cast<std::size_t>(TimeUse::useful)] = counted_.useful_ps;
    outcome.time_ps[static_cast<std::size_t>(TimeUse::degraded)] = counted_.degraded_ps;
    outcome.time_ps[static_cast<std::size_t>(TimeUse::warm_up)] = counted_.warm_up_ps;
    outcome.spans = spans_;
    return outcome;
  }

 private:
  [[nodiscard]] LongPicoseconds& time(TimeUse use) { return time_[static_cast<std::size_t>(use)]; }

  void pass(LongPicoseconds duration, TimeUse use) {
    const LongPicoseconds begin = now_;
    now_ += duration;
    if (!keeps_spans_ || duration == 0) return;
    if (!spans_.empty() && spans_.back().use == use && spans_.back().end == begin) {
      spans_.back().end = now_;
    } else if (spans_.size() < RunOutcome::kMostSpans) {
      spans_.push_back({use, begin, now_});
    }
  }

  bool keeps_spans_;
  LongPicoseconds now_ = 0;
  Counted counted_;
  std::array<LongPicoseconds, kTimeUseCount> time_{};
  std::vector<RunSpan> spans_;
};

/// The checkpoints at one place: the latest that can be read, and one that is on its way.
struct Copies {
  std::optional<Counted> durable;
  std::optional<Counted> pending;
  LongPicoseconds written_at = 0;  ///< when `pending` can be read

  void settle(LongPicoseconds now) {
    if (!pending || written_at > now) return;
    durable = pending;
    pending.reset();
  }
  void write(const Counted& counted, LongPicoseconds now, const CheckpointStore& store) {
    settle(now);
    pending = counted;
    written_at = now + store.save_ps;
  }
  /// Keeps what a failure of that reach leaves. A checkpoint that was on its way is lost.
  void survive(const CheckpointStore& store, FailureReach reach, LongPicoseconds now) {
    settle(now);
    pending.reset();
    written_at = now;
    if (!store.survives[static_cast<std::size_t>(reach)]) durable.reset();
  }
  /// Deletes what was learnt after `last`, which is kept in its place.
  void forget_after(const Counted& last) {
    pending.reset();
    if (!durable || durable->progress <= last.progress) return;
    durable = last;
    if (last.progress == 0) durable.reset();
  }
};

}  // namespace orrery
