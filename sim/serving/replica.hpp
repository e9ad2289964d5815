// Simulates one copy of the model that serves: its stages, its KV cache, and its requests in as many
// schedulers as there are stages, so that each stage has an iteration to work on.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "sim/serving/scheduler.hpp"
#include "sim/serving/serving_pipeline.hpp"

namespace orrery {

struct ReplicaShape {
  std::uint32_t number = 0;
  ReplicaRole role = ReplicaRole::both;
  std::int64_t limit = 0;          ///< requests in flight; 0: as many as there are pages for
  std::int64_t pages = 0;          ///< of its cache
  std::int64_t lasting_pages = 0;  ///< of those, the ones that are held all the time
  std::int64_t state_pages = 0;    ///< of the state of a request, whatever its length
};

/// An iteration that has begun.
struct BegunIteration {
  std::uint32_t scheduler = 0;
  Picoseconds end_ps = 0;
};

struct ReplicaCounts {
  std::int64_t iterations = 0;
  std::int64_t rows = 0;  ///< requests, summed over iterations
  std::int64_t most_rows = 0;
};

class Replica {
 public:
  /// Refers to `rules` and `cost`.
  Replica(const ServingRules& rules, const ReplicaShape& shape, IterationCost& cost);
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  /// Requests that are its own now, until they have ended or are handed over.
  [[nodiscard]] std::int64_t assigned() const { return assigned_; }
  [[nodiscard]] bool has_free_slot() const;
  /// Returns true if requests wait to be computed.
  [[nodiscard]] bool is_waiting() const;
  /// Returns the number of requests that wait.
  [[nodiscard]] std::int64_t waiting() const;

  void enqueue(std::uint32_t request);
  /// Takes the pages for a request's prompt, which is on its way here; whether there are enough.
  bool expect(std::uint32_t request);
  /// Called when the request's KV cache has arrived.
  void join(std::uint32_t request);
  /// The keys and values of a request that was handed over are no longer needed.
  void release(std::uint32_t request);

  /// Returns when the next iteration can begin, `now` at the earliest; nullopt if all schedulers are in
  /// flight.
  [[nodiscard]] std::optional<Picoseconds> next_start(Picoseconds now) const;
  /// @param complete  no more requests will come
  std::optional<BegunIteration> begin(Picoseconds now, bool complete);
  /// Returns the requests to which a scheduler's iteration in flight brings tokens.
  [[nodiscard]] std::int64_t messages(std::uint32_t scheduler) const {
    return schedulers_[scheduler].messages();
  }
  /// @param delivered  when the tokens are with their clients, `now` at the earliest
  void finish(std::uint32_t scheduler, Picoseconds now, Picoseconds delivered, IterationOutcome& outcome);

  [[nodiscard]] const PagePool& pages() const { return pages_; }
  [[nodiscard]] const ReplicaCounts& counts() const { return counts_; }
  [[nodiscard]] SchedulerCounts scheduler_counts() const;
  /// Returns the times of all parts in a run of that duration.
  [[nodiscard]] ServingTimes times(Picoseconds duration) const;
  [[nodiscard]] ServingWork work(Picoseconds duration) const;

 private:
  /// Returns the pages that a request of `tokens` tokens holds, its state among them.
  [[nodiscard]] std::int64_t pages_of(const ServedRequest& request, std::int64_t tokens) const {
    return pages_.with_state(rules_.own_pages(request, tokens));
  }
  void assign(std::uint32_t request);
  [[nodiscard]] std::uint32_t emptiest_scheduler() const;
  std::optional<BegunIteration> try_schedulers(Picoseconds now, bool complete);

  const ServingRules& rules_;
  std::uint32_t number_;
  std::int64_t limit_;
  PagePool pages_;
  ServingPipeline pipeline_;
  std::deque<Scheduler> schedulers_;
  std::vector<std::int64_t> in_scheduler_;  ///< requests by scheduler
  std::deque<std::uint32_t> ready_;         ///< schedulers without an iteration in flight, the longest first
  std::int64_t assigned_ = 0;
  std::uint32_t in_flight_ = 0;
  Picoseconds active_since_ = 0;
  Picoseconds active_ps_ = 0;  ///< with an iteration in flight
  ReplicaCounts counts_;
};

}  // namespace orrery
