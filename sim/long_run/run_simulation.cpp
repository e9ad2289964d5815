#include "sim/long_run/run_simulation.hpp"

#include <algorithm>
#include <utility>

#include "sim/long_run/outages.hpp"
#include "sim/long_run/run_ledger.hpp"

namespace orrery {
namespace {

constexpr LongPicoseconds kNoFailure = FailureStreams::kNever;

/// Steps in a row that take equally long.
struct RunSegment {
  std::int64_t steps = 0;
  Picoseconds step_ps = 0;
  Picoseconds healthy_ps = 0;  ///< of a step with all replicas and no slow part
  Picoseconds warm_up_ps = 0;  ///< part of step_ps
  std::int64_t progress = 0;   ///< of a step, in replicas
};

/// A slow part that nobody has found yet, or a fault that spoils training since `before`.
struct Hidden {
  LongPicoseconds found_at = 0;
  FailureEvent event;
  Counted before;  ///< a checkpoint without the fault
};

class RunSimulation {
 public:
  RunSimulation(const RunModel& model, std::uint64_t seed, std::uint64_t repetition, bool keeps_spans)
      : model_(model),
        streams_(model, seed, repetition),
        ledger_(keeps_spans),
        outages_(model),
        goal_(model.steps() * model.replicas) {
    failures_.resize(model.kinds.size());
    if (model.maintenance_interval_ps > 0)
      maintenance_due_ = static_cast<LongPicoseconds>(model.maintenance_interval_ps);
  }

  RunOutcome run() {
    while (ledger_.counted().progress < goal_ && !given_up_) advance();
    RunOutcome outcome = ledger_.outcome();
    outcome.ends = !given_up_;
    outcome.steps = static_cast<double>(std::min(goal_, ledger_.counted().progress)) /
                    static_cast<double>(model_.replicas);
    outcome.interruptions = interruptions_;
    outcome.checkpoints = checkpoints_;
    outcome.failures = std::move(failures_);
    return outcome;
  }

 private:
  using Interruption = std::optional<FailureEvent>;

  [[nodiscard]] LongPicoseconds now() const { return ledger_.now(); }
  [[nodiscard]] bool stops(std::size_t kind) const {
    return model_.kinds[kind].effect == FailureKind::Effect::stops;
  }

  /// Makes steps until the next checkpoint, evaluation or change of the batch, or until something happens.
  void advance() {
    if (outages_.lost() >= model_.replicas) return wait_for_a_replica();
    const RunSegment segment = next_segment();
    const LongPicoseconds event = next_event();
    if (make_intervals(segment, event)) return;
    const LongPicoseconds until = std::max<LongPicoseconds>(0, event - now());
    const LongPicoseconds whole = until / segment.step_ps;
    if (whole >= segment.steps) {
      make_steps(segment, segment.steps);
      return reach_boundary();
    }
    if (event == streams_.next() && stops(streams_.next_kind())) {
      make_steps(segment, static_cast<std::int64_t>(whole));
      ledger_.spend(until - whole * segment.step_ps, TimeUse::lost_steps);
    } else if (until > 0) {  // the step under way is finished first
      make_steps(segment, static_cast<std::int64_t>(whole) + 1);
    }
    if (ledger_.counted().progress < goal_) handle_event();
  }

  /// Nobody is left to go on until the first one comes back.
  void wait_for_a_replica() {
    if (const Interruption failure = wait_for_nodes()) recover(*failure);
  }

  [[nodiscard]] LongPicoseconds next_event() const {
    LongPicoseconds next = std::min({streams_.next(), maintenance_due_, outages_.next_return()});
    for (const Hidden& hidden : hidden_) next = std::min(next, hidden.found_at);
    return next;
  }

  void handle_event() {
    if (streams_.next() <= now()) {
      const FailureEvent event = streams_.take();
      return stops(event.kind) ? recover(event) : hide(event);
    }
    const auto found = std::ranges::find_if(hidden_, [&](const Hidden& h) { return h.found_at <= now(); });
    if (found != hidden_.end()) return find_fault(found - hidden_.begin());
    if (maintenance_due_ <= now()) return maintain();
    if (outages_.take_back(now()) && model_.policy == RecoveryPolicy::shrink) grow();
  }

  RunSegment next_segment() {
    find_level();
    const StepLevel& level = model_.levels[level_];
    const std::int64_t lost = outages_.lost();
    const bool whole_batch = lost == 0 || keeps_batch();
    RunSegment segment{0, level.step_ps, level.step_ps, 0,
                       whole_batch ? model_.replicas : model_.replicas - lost};
    if (lost > 0 && keeps_batch() && model_.step_without) segment.step_ps = model_.step_without(level_, lost);
    segment.step_ps = slowed(segment.step_ps);
    segment.steps = steps_to_boundary(segment.progress);
    if (since_start_ < model_.warmup_steps) {
      segment.steps = std::min(segment.steps, model_.warmup_steps - since_start_);
      segment.warm_up_ps =
          static_cast<Picoseconds>(static_cast<double>(segment.step_ps) * (model_.warmup_slowdown - 1));
      segment.step_ps += segment.warm_up_ps;
    }
    return segment;
  }

  [[nodiscard]] bool keeps_batch() const {
    return model_.policy == RecoveryPolicy::reroute ||
           (model_.policy == RecoveryPolicy::shrink && model_.keep_batch);
  }

  /// The batch of the next step; a checkpoint may lie before that of the latest.
  void find_level() {
    const std::int64_t progress = ledger_.counted().progress;
    if (progress < level_begin_) level_ = 0, level_begin_ = 0;
    for (;; ++level_) {
      const std::int64_t end = level_begin_ + model_.levels[level_].steps * model_.replicas;
      if (progress < end || level_ + 1 == model_.levels.size()) return;
      level_begin_ = end;
    }
  }

  [[nodiscard]] std::int64_t steps_to_boundary(std::int64_t progress_of_step) const {
    const std::int64_t level_end = level_begin_ + model_.levels[level_].steps * model_.replicas;
    const std::int64_t left = level_end - ledger_.counted().progress;
    std::int64_t steps = (left + progress_of_step - 1) / progress_of_step;
    if (model_.checkpoint.interval_steps > 0)
      steps = std::min(steps, model_.checkpoint.interval_steps - since_checkpoint_);
    if (model_.evaluation_steps > 0) steps = std::min(steps, model_.evaluation_steps - since_evaluation_);
    return std::max<std::int64_t>(1, steps);
  }

  /// The slowest part sets the pace of all.
  [[nodiscard]] Picoseconds slowed(Picoseconds step_ps) const {
    Picoseconds slowest = step_ps;
    for (const Hidden& hidden : hidden_) {
      const FailureKind& kind = model_.kinds[hidden.event.kind];
      slowest = std::max(
          slowest, static_cast<Picoseconds>(divide_rounded(Int128{step_ps} * kind.slow_num, kind.slow_den)));
    }
    return slowest;
  }

  void make_steps(const RunSegment& segment, std::int64_t steps) {
    const std::int64_t all = model_.replicas;
    ledger_.make_steps(
        {steps, segment.step_ps, segment.healthy_ps, segment.warm_up_ps, segment.progress, all});
    since_start_ += steps;
    since_checkpoint_ += steps;
    since_evaluation_ += steps;
  }

  void reach_boundary() {
    if (ledger_.counted().progress >= goal_) return;
    if (model_.evaluation_steps > 0 && since_evaluation_ >= model_.evaluation_steps) {
      since_evaluation_ = 0;
      if (const Interruption failure = pause(model_.evaluation_ps, TimeUse::evaluation))
        return recover(*failure);
    }
    const std::int64_t interval = model_.checkpoint.interval_steps;
    if (interval > 0 && since_checkpoint_ >= interval) static_cast<void>(save());
  }

  /// Makes all intervals but the last one until the next event at once, where nothing else lies between them;
  /// false if there are none. The result is that of one after the other.
  bool make_intervals(const RunSegment& segment, LongPicoseconds event) {
    const CheckpointModel& checkpoint = model_.checkpoint;
    const bool plain = !ledger_.keeps_spans() && model_.evaluation_steps == 0 && !checkpoint.second &&
                       segment.warm_up_ps == 0 && segment.progress == model_.replicas;
    if (!plain || checkpoint.interval_steps == 0 || segment.steps != checkpoint.interval_steps) return false;
    const LongPicoseconds training = LongPicoseconds{segment.steps} * segment.step_ps;
    if (checkpoint.first.save_ps > training || first_.written_at > now() + training) return false;
    const std::int64_t level_end = level_begin_ + model_.levels[level_].steps * model_.replicas;
    const LongPicoseconds left = (level_end - ledger_.counted().progress) / model_.replicas / segment.steps;
    const LongPicoseconds fitting = (event - now()) / (training + checkpoint.stall_ps);
    const auto intervals = static_cast<std::int64_t>(std::min(left, fitting)) - 1;
    if (intervals < 1) return false;
    make_steps(segment, intervals * segment.steps);
    ledger_.spend(LongPicoseconds{intervals} * checkpoint.stall_ps, TimeUse::checkpoint);
    since_checkpoint_ = 0;
    checkpoints_ += intervals;
    first_.write(ledger_.counted(), now(), checkpoint.first);
    return true;
  }

  /// Writes a checkpoint, after the one before it is written; false if a failure came between.
  bool save() {
    const CheckpointModel& checkpoint = model_.checkpoint;
    Interruption failure =
        pause(std::max<LongPicoseconds>(0, first_.written_at - now()), TimeUse::checkpoint);
    if (!failure) failure = pause(checkpoint.stall_ps, TimeUse::checkpoint);
    if (failure) {
      recover(*failure);
      return false;
    }
    since_checkpoint_ = 0;
    ++checkpoints_;
    first_.write(ledger_.counted(), now(), checkpoint.first);
    if (checkpoint.second && checkpoints_ % checkpoint.persist_every == 0 && second_.written_at <= now())
      second_.write(ledger_.counted(), now(), *checkpoint.second);
    return true;
  }

  /// Goes back to the latest checkpoint that a failure left.
  void roll_back() {
    const Counted start;
    const CheckpointModel& checkpoint = model_.checkpoint;
    restore_ps_ = 0;
    if (first_.durable) {
      restore_ps_ = checkpoint.first.load_ps;
      ledger_.roll_back(*first_.durable);
    } else if (second_.durable) {
      restore_ps_ = checkpoint.second->load_ps;
      ledger_.roll_back(*second_.durable);
    } else {
      ledger_.roll_back(start);
    }
    since_checkpoint_ = 0;
    std::erase_if(hidden_, [&](const Hidden& h) {  // what is learnt again is sound
      return spoils(h) && ledger_.counted().progress <= h.before.progress;
    });
  }

  void lose_copies(FailureReach reach) {
    first_.survive(model_.checkpoint.first, reach, now());
    if (model_.checkpoint.second) second_.survive(*model_.checkpoint.second, reach, now());
  }

  /// Lets time pass unless a failure comes between, which it returns.
  Interruption pause(LongPicoseconds duration, TimeUse use) {
    const LongPicoseconds end = now() + duration;
    while (streams_.next() < end) {
      const FailureEvent event = streams_.take();
      if (stops(event.kind)) {
        ledger_.spend(std::max<LongPicoseconds>(0, event.at - now()), use);
        return event;
      }
      hide(event);
    }
    ledger_.spend(end - now(), use);
    return std::nullopt;
  }

  [[nodiscard]] bool spoils(const Hidden& hidden) const {
    return model_.kinds[hidden.event.kind].effect == FailureKind::Effect::spoils;
  }

  void hide(const FailureEvent& event) {
    ++failures_[event.kind];
    const LongPicoseconds found =
        event.at + static_cast<LongPicoseconds>(model_.kinds[event.kind].found_after_ps);
    first_.settle(event.at);
    second_.settle(event.at);
    const Counted start;
    const Counted& persisted = first_.durable ? *first_.durable : second_.durable ? *second_.durable : start;
    hidden_.push_back({found, event, persisted});
  }

  void find_fault(std::ptrdiff_t which) {
    const Hidden found = hidden_[static_cast<std::size_t>(which)];
    hidden_.erase(hidden_.begin() + which);
    if (spoils(found)) {
      first_.forget_after(found.before);
      second_.forget_after(found.before);
    }
    --failures_[found.event.kind];  // which recover() counts once more
    FailureEvent event = found.event;
    event.at = now();
    recover(event, spoils(found));
  }

  /// @param spoilt  training goes back to a checkpoint whatever the policy
  void recover(const FailureEvent& event, bool spoilt = false) {
    for (Interruption next = event; next && !given_up_; spoilt = false) {
      count(*next);
      next = others_go_on() && !spoilt ? regroup(*next) : restart_after(*next);
    }
  }

  [[nodiscard]] bool others_go_on() const {
    return model_.policy == RecoveryPolicy::per_replica || model_.policy == RecoveryPolicy::reroute;
  }

  void count(const FailureEvent& event) {
    ++failures_[event.kind];
    ++interruptions_;
    vain_ = ledger_.counted().progress > recovered_at_ ? 0 : vain_ + 1;
    recovered_at_ = std::max(recovered_at_, ledger_.counted().progress);
    given_up_ = vain_ > kMostVainInterruptions || interruptions_ > kMostInterruptions;
  }

  Interruption restart_after(const FailureEvent& event) {
    const FailureKind& kind = model_.kinds[event.kind];
    lose_copies(kind.reach);
    roll_back();
    recovered_at_ = std::max(recovered_at_, ledger_.counted().progress);
    outages_.take_out(event, now(), restore_ps_);
    if (Interruption failure = pause(kind.detection_ps, TimeUse::detection)) return failure;
    if (Interruption failure = wait_for_nodes()) return failure;
    return start_again();
  }

  Interruption wait_for_nodes() {
    for (LongPicoseconds wait = 0; (wait = outages_.wait_for_nodes(now())) > 0;) {
      if (Interruption failure = pause(wait, TimeUse::waiting)) return failure;
    }
    return std::nullopt;
  }

  Interruption start_again() {
    if (Interruption failure = pause(model_.restart_ps, TimeUse::restart)) return failure;
    if (Interruption failure = pause(restore_ps_, TimeUse::restore)) return failure;
    since_start_ = 0;
    return std::nullopt;
  }

  /// The replicas that are left go on without the one that failed, unless it was away already.
  Interruption regroup(const FailureEvent& event) {
    const bool was_away = outages_.is_away(event);
    outages_.take_out(event, now(), model_.checkpoint.peer_load_ps);
    if (was_away) {
      --interruptions_;
      return std::nullopt;
    }
    if (outages_.lost() >= model_.replicas) return start_over();
    if (Interruption failure = pause(model_.kinds[event.kind].detection_ps, TimeUse::detection))
      return failure;
    return pause(model_.reconfigure_ps, TimeUse::restart);
  }

  /// Nobody is left who has the weights.
  Interruption start_over() {
    lose_copies(FailureReach::group);
    roll_back();
    if (Interruption failure = wait_for_nodes()) return failure;
    return start_again();
  }

  /// A lost replica is back: training starts again with it.
  void grow() {
    if (model_.checkpoint.interval_steps > 0 && !save()) return;
    restore_ps_ = model_.checkpoint.first.load_ps;
    if (const Interruption failure = start_again()) recover(*failure);
  }

  /// Begins with a checkpoint. A failure puts it off to the next time.
  void maintain() {
    if (model_.checkpoint.interval_steps == 0 || save()) {
      restore_ps_ = model_.checkpoint.interval_steps > 0 ? model_.checkpoint.first.load_ps : 0;
      Interruption failure = pause(model_.maintenance_ps, TimeUse::maintenance);
      if (!failure) failure = start_again();
      if (failure) recover(*failure);
    }
    maintenance_due_ = now() + static_cast<LongPicoseconds>(model_.maintenance_interval_ps);
  }

  const RunModel& model_;
  FailureStreams streams_;
  RunLedger ledger_;
  Outages outages_;
  Copies first_, second_;
  std::vector<Hidden> hidden_;
  std::int64_t goal_;
  std::size_t level_ = 0;
  std::int64_t level_begin_ = 0;  ///< progress at which its batch begins
  std::int64_t since_start_ = 0;  ///< steps
  std::int64_t since_checkpoint_ = 0;
  std::int64_t since_evaluation_ = 0;
  LongPicoseconds maintenance_due_ = kNoFailure;
  Picoseconds restore_ps_ = 0;
  std::int64_t checkpoints_ = 0;
  std::int64_t interruptions_ = 0;
  std::int64_t vain_ = 0;
  std::int64_t recovered_at_ = -1;  ///< most progress after a recovery
  bool given_up_ = false;
  std::vector<std::int64_t> failures_;
};

}  // namespace

RunOutcome simulate_run(const RunModel& model, std::uint64_t seed, std::uint64_t repetition,
                        bool keeps_spans) {
  return RunSimulation(model, seed, repetition, keeps_spans).run();
}

}  // namespace orrery
