#include "sim/serving/replica.hpp"

#include <algorithm>

namespace orrery {

Replica::Replica(const ServingRules& rules, const ReplicaShape& shape, IterationCost& cost)
    : rules_(rules),
      number_(shape.number),
      limit_(shape.limit),
      pages_(shape.pages, shape.lasting_pages, shape.state_pages),
      pipeline_(cost, rules.inference.speculation) {
  std::int64_t schedulers = cost.stages();
  if (limit_ > 0) schedulers = std::min(schedulers, limit_);
  for (std::int64_t scheduler = 0; scheduler < schedulers; ++scheduler) {
    schedulers_.emplace_back(rules, shape.role, (limit_ + schedulers - 1 - scheduler) / schedulers, pages_);
    ready_.push_back(static_cast<std::uint32_t>(scheduler));
  }
  in_scheduler_.resize(schedulers_.size());
}

/// Schedulers may take fewer requests than the replica, because their running batch has to fit into an
/// iteration.
bool Replica::has_free_slot() const {
  const std::uint32_t scheduler = emptiest_scheduler();
  return schedulers_[scheduler].limit() == 0 || in_scheduler_[scheduler] < schedulers_[scheduler].limit();
}

bool Replica::is_waiting() const {
  return std::ranges::any_of(schedulers_, [](const Scheduler& scheduler) { return scheduler.is_waiting(); });
}

std::int64_t Replica::waiting() const {
  std::int64_t sum = 0;
  for (const Scheduler& scheduler : schedulers_) sum += scheduler.waiting();
  return sum;
}

/// The one with most places left; of equal ones the first.
std::uint32_t Replica::emptiest_scheduler() const {
  std::uint32_t emptiest = 0;
  for (std::uint32_t scheduler = 1; scheduler < schedulers_.size(); ++scheduler) {
    if (in_scheduler_[scheduler] - schedulers_[scheduler].limit() <
        in_scheduler_[emptiest] - schedulers_[emptiest].limit())
      emptiest = scheduler;
  }
  return emptiest;
}

void Replica::assign(std::uint32_t request) {
  const std::uint32_t scheduler = emptiest_scheduler();
  rules_.requests[request].scheduler = scheduler;
  ++in_scheduler_[scheduler];
  ++assigned_;
}

void Replica::enqueue(std::uint32_t request) {
  assign(request);
  schedulers_[rules_.requests[request].scheduler].enqueue(request);
}

bool Replica::expect(std::uint32_t number) {
  const ServedRequest& request = rules_.requests[number];
  const std::int64_t tokens =
      rules_.inference.guaranteed_no_evict ? request.most_cached() : request.spec.prompt_tokens;
  if (!has_free_slot() || !pages_.take(pages_of(request, tokens))) return false;
  assign(number);
  return true;
}

void Replica::join(std::uint32_t request) { schedulers_[rules_.requests[request].scheduler].join(request); }

void Replica::release(std::uint32_t number) {
  const ServedRequest& request = rules_.requests[number];
  pages_.give_back(pages_of(request, request.spec.prompt_tokens));
}

std::optional<Picoseconds> Replica::next_start(Picoseconds now) const {
  if (ready_.empty()) return std::nullopt;
  return std::max(now, pipeline_.free_at());
}

/// A scheduler that finds nothing to do may have given up pages that a scheduler before it could use.
std::optional<BegunIteration> Replica::begin(Picoseconds now, bool complete) {
  for (;;) {
    const std::int64_t used = pages_.used();
    if (const auto begun = try_schedulers(now, complete)) return begun;
    if (pages_.used() >= used) return std::nullopt;
  }
}

/// The scheduler that has waited longest and has something to do.
std::optional<BegunIteration> Replica::try_schedulers(Picoseconds now, bool complete) {
  for (auto at = ready_.begin(); at != ready_.end(); ++at) {
    const std::uint32_t scheduler = *at;
    const IterationBatch& batch = schedulers_[scheduler].schedule_batch(now, complete);
    if (batch.tokens() == 0) continue;
    ready_.erase(at);
    if (in_flight_++ == 0) active_since_ = now;
    const std::int64_t rows = batch.prompt_requests + batch.decode_requests;
    ++counts_.iterations;
    counts_.rows += rows;
    counts_.most_rows = std::max(counts_.most_rows, rows);
    const Picoseconds end = pipeline_.execute(now, batch);
    if (rules_.recorder != nullptr) rules_.recorder->iteration(number_, batch, pipeline_.spans(), end);
    return BegunIteration{scheduler, end};
  }
  return std::nullopt;
}

void Replica::finish(std::uint32_t scheduler, Picoseconds now, Picoseconds delivered,
                     IterationOutcome& outcome) {
  outcome.clear();
  schedulers_[scheduler].finish(delivered, outcome);
  const std::int64_t gone = outcome.places + static_cast<std::int64_t>(outcome.prefilled.size());
  in_scheduler_[scheduler] -= gone;
  assigned_ -= gone;
  ready_.push_back(scheduler);
  if (--in_flight_ == 0) active_ps_ += now - active_since_;
}

SchedulerCounts Replica::scheduler_counts() const {
  SchedulerCounts sum;
  for (const Scheduler& scheduler : schedulers_) {
    sum.preemptions += scheduler.counts().preemptions;
    sum.recomputed_tokens += scheduler.counts().recomputed_tokens;
  }
  return sum;
}

ServingTimes Replica::times(Picoseconds duration) const {
  ServingTimes times = pipeline_.times();
  times.idle_ps = static_cast<Int128>(duration - active_ps_) * pipeline_.stages();
  times.bubble_ps = static_cast<Int128>(duration) * pipeline_.stages() - times.total_ps();
  return times;
}

/// Waiting for a message between stages is a part of the bubble.
ServingWork Replica::work(Picoseconds duration) const {
  const ServingTimes all = times(duration);
  ServingWork work = pipeline_.work();
  work.idle_ps = all.idle_ps;
  work.bubble_ps = all.total_ps() - work.total_ps();
  return work;
}

}  // namespace orrery
