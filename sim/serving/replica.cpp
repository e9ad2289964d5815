#include "sim/serving/replica.hpp"

#include <algorithm>

namespace orrery {

Replica::Replica(const ServingRules& rules, const ReplicaShape& shape, IterationCost& cost)
    : rules_(rules),
      number_(shape.number),
      limit_(shape.limit),
      pages_(shape.pages, shape.lasting_pages, shape.state_pages),
      line_(cost, rules.inference.speculation) {
  std::int64_t lanes = cost.stages();
  if (limit_ > 0) lanes = std::min(lanes, limit_);
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    lanes_.emplace_back(rules, shape.role, (limit_ + lanes - 1 - lane) / lanes, pages_);
    ready_.push_back(static_cast<std::uint32_t>(lane));
  }
  in_lane_.resize(lanes_.size());
}

/// Lanes may take fewer than the replica: what they decode has to fit into an iteration.
bool Replica::has_place() const {
  const std::uint32_t lane = emptiest_lane();
  return lanes_[lane].limit() == 0 || in_lane_[lane] < lanes_[lane].limit();
}

bool Replica::is_waiting() const {
  return std::ranges::any_of(lanes_, [](const Lane& lane) { return lane.is_waiting(); });
}

std::int64_t Replica::waiting() const {
  std::int64_t sum = 0;
  for (const Lane& lane : lanes_) sum += lane.waiting();
  return sum;
}

/// The one with most places left; of equal ones the first.
std::uint32_t Replica::emptiest_lane() const {
  std::uint32_t emptiest = 0;
  for (std::uint32_t lane = 1; lane < lanes_.size(); ++lane) {
    if (in_lane_[lane] - lanes_[lane].limit() < in_lane_[emptiest] - lanes_[emptiest].limit())
      emptiest = lane;
  }
  return emptiest;
}

void Replica::assign(std::uint32_t request) {
  const std::uint32_t lane = emptiest_lane();
  rules_.requests[request].lane = lane;
  ++in_lane_[lane];
  ++assigned_;
}

void Replica::enqueue(std::uint32_t request) {
  assign(request);
  lanes_[rules_.requests[request].lane].enqueue(request);
}

bool Replica::expect(std::uint32_t number) {
  const ServedRequest& request = rules_.requests[number];
  const std::int64_t tokens =
      rules_.inference.guaranteed_no_evict ? request.most_cached() : request.spec.prompt_tokens;
  if (!has_place() || !pages_.take(pages_of(request, tokens))) return false;
  assign(number);
  return true;
}

void Replica::join(std::uint32_t request) { lanes_[rules_.requests[request].lane].join(request); }

void Replica::release(std::uint32_t number) {
  const ServedRequest& request = rules_.requests[number];
  pages_.give_back(pages_of(request, request.spec.prompt_tokens));
}

std::optional<Picoseconds> Replica::next_start(Picoseconds now) const {
  if (ready_.empty()) return std::nullopt;
  return std::max(now, line_.free_at());
}

/// A lane that finds nothing to do may have given up pages that a lane before it could use.
std::optional<BegunIteration> Replica::begin(Picoseconds now, bool complete) {
  for (;;) {
    const std::int64_t used = pages_.used();
    if (const auto begun = try_lanes(now, complete)) return begun;
    if (pages_.used() >= used) return std::nullopt;
  }
}

/// The lane that has waited longest and has something to do.
std::optional<BegunIteration> Replica::try_lanes(Picoseconds now, bool complete) {
  for (auto at = ready_.begin(); at != ready_.end(); ++at) {
    const std::uint32_t lane = *at;
    const IterationBatch& batch = lanes_[lane].compose(now, complete);
    if (batch.tokens() == 0) continue;
    ready_.erase(at);
    if (in_flight_++ == 0) active_since_ = now;
    const std::int64_t rows = batch.prompt_requests + batch.decode_requests;
    ++counts_.iterations;
    counts_.rows += rows;
    counts_.most_rows = std::max(counts_.most_rows, rows);
    const Picoseconds end = line_.pass(now, batch);
    if (rules_.recorder != nullptr) rules_.recorder->iteration(number_, batch, line_.spans(), end);
    return BegunIteration{lane, end};
  }
  return std::nullopt;
}

void Replica::finish(std::uint32_t lane, Picoseconds now, IterationOutcome& outcome) {
  outcome.clear();
  lanes_[lane].finish(now, outcome);
  const std::int64_t gone = outcome.places + static_cast<std::int64_t>(outcome.prefilled.size());
  in_lane_[lane] -= gone;
  assigned_ -= gone;
  ready_.push_back(lane);
  if (--in_flight_ == 0) active_ps_ += now - active_since_;
}

LaneCounts Replica::lane_counts() const {
  LaneCounts sum;
  for (const Lane& lane : lanes_) {
    sum.preemptions += lane.counts().preemptions;
    sum.recomputed_tokens += lane.counts().recomputed_tokens;
  }
  return sum;
}

ServingTimes Replica::times(Picoseconds duration) const {
  ServingTimes times = line_.times();
  times.idle_ps = static_cast<Int128>(duration - active_ps_) * line_.stages();
  times.bubble_ps = static_cast<Int128>(duration) * line_.stages() - times.total_ps();
  return times;
}

/// Waiting for a message between stages is a part of the bubble.
ServingWork Replica::work(Picoseconds duration) const {
  const ServingTimes all = times(duration);
  ServingWork work = line_.work();
  work.idle_ps = all.idle_ps;
  work.bubble_ps = all.total_ps() - work.total_ps();
  return work;
}

}  // namespace orrery
