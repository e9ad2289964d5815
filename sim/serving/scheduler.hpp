// Schedules a share of a replica's requests with one iteration in flight at a time: a replica has as many
// schedulers as pipeline stages. Decides the contents of an iteration as vLLM's scheduler does.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "orrery/inference.hpp"
#include "sim/serving/iteration.hpp"
#include "sim/serving/page_pool.hpp"
#include "sim/serving/recorder.hpp"
#include "sim/serving/running_batch.hpp"
#include "sim/serving/served_request.hpp"
#include "sim/serving/token_gaps.hpp"

namespace orrery {

/// Says which phases of requests a replica computes.
enum class ReplicaRole : std::uint8_t {
  both,
  prefill,  ///< hands them over with their first token
  decode,   ///< gets them there; prompts are only computed again
};

/// Holds the settings that all schedulers of a run share. It only refers to them.
struct ServingRules {
  const Inference& inference;
  std::vector<ServedRequest>& requests;
  std::int64_t token_budget = 0;  ///< tokens of an iteration, or of its prompts where they go whole
  std::uint64_t seed = 0;
  TokenGaps* gaps = nullptr;
  ServingRecorder* recorder = nullptr;  ///< null: nothing is recorded

  [[nodiscard]] std::int64_t pages(std::int64_t tokens) const {
    return (tokens + inference.page_tokens - 1) / inference.page_tokens;
  }
  /// Returns the pages that a request needs for `tokens` tokens, without those of the shared prefix.
  [[nodiscard]] std::int64_t own_pages(const ServedRequest& request, std::int64_t tokens) const;
};

/// Lists the requests that an iteration ended or prefilled, and counts the slots that it freed.
struct IterationOutcome {
  std::vector<std::uint32_t> ended;
  std::vector<std::uint32_t> prefilled;  ///< to be handed over; their pages are still held
  std::int64_t places = 0;               ///< for new requests

  void clear();
};

struct SchedulerCounts {
  std::int64_t preemptions = 0;
  std::int64_t recomputed_tokens = 0;
};

class Scheduler {
 public:
  /// @param limit  requests in a batch at most; 0: as many as there are pages for
  Scheduler(const ServingRules& rules, ReplicaRole role, std::int64_t limit, PagePool& pages);

  /// A request to begin with its prompt.
  void enqueue(std::uint32_t request) { waiting_.push_back(request); }
  /// A request whose prompt is in the cache, with pages of its own here.
  void join(std::uint32_t request) { joining_.push_back(request); }

  [[nodiscard]] std::int64_t limit() const { return limit_; }
  [[nodiscard]] bool is_waiting() const { return !waiting_.empty(); }
  [[nodiscard]] std::int64_t waiting() const { return static_cast<std::int64_t>(waiting_.size()); }

  /// The next iteration; one without tokens where nothing can be done.
  /// @param complete  no more requests will come
  const IterationBatch& schedule_batch(Picoseconds now, bool complete);
  /// Returns the requests to which the iteration composed last brings tokens.
  [[nodiscard]] std::int64_t messages() const;
  /// The iteration composed last is over.
  /// @param delivered  when its tokens are with their clients
  void finish(Picoseconds delivered, IterationOutcome& outcome);

  [[nodiscard]] const SchedulerCounts& counts() const { return counts_; }

 private:
  /// A prompt that has its pages.
  struct Prompt {
    std::uint32_t request = 0;
    std::int64_t done = 0;  ///< tokens that are in the cache or in the iteration in flight
    std::int64_t total = 0;
  };

  void schedule_static(Picoseconds now, bool complete);
  void schedule_whole_prompts(Picoseconds now);
  void schedule_chunked_prefill(Picoseconds now);
  bool admit(bool whole_length);
  void add_decode();
  void add_prefill(std::int64_t budget, Picoseconds now);
  void add_chunk(Prompt& prompt, std::int64_t tokens, Picoseconds now);
  bool reserve_blocks();
  void preempt_youngest();
  void look_for_requests();
  void begin_decoding(std::uint32_t number, std::int64_t cached);
  void note_gaps(Picoseconds now);
  void finish_prompt(const Prompt& prompt, Picoseconds now, IterationOutcome& outcome);
  void end(std::uint32_t request, std::int64_t pages, Picoseconds now, IterationOutcome& outcome);
  void finish_static(IterationOutcome& outcome);
  [[nodiscard]] std::int64_t in_batch() const {
    return decode_.rows() + static_cast<std::int64_t>(prompts_.size());
  }
  [[nodiscard]] bool has_free_slot() const { return limit_ == 0 || in_batch() < limit_; }
  [[nodiscard]] ServedRequest& request(std::uint32_t number) const { return rules_.requests[number]; }
  /// Returns the pages that a request of `tokens` tokens holds, its state among them.
  [[nodiscard]] std::int64_t pages_of(const ServedRequest& request, std::int64_t tokens) const {
    return pages_.with_state(rules_.own_pages(request, tokens));
  }
  /// Returns true if a request reserves all the pages it will ever need when it begins.
  [[nodiscard]] bool reserves() const {
    return rules_.inference.guaranteed_no_evict && role_ != ReplicaRole::prefill;
  }
  [[nodiscard]] bool is_static() const { return rules_.inference.batching == Batching::fixed; }

  const ServingRules& rules_;
  ReplicaRole role_;
  std::int64_t limit_;
  PagePool& pages_;
  std::deque<std::uint32_t> waiting_;
  std::int64_t seen_ = 0;               ///< of those that wait, in front, which the engine knows of
  std::int64_t passes_since_look_ = 0;  ///< of decoding alone, since it looked for requests
  std::vector<std::uint32_t> joining_;
  std::deque<Prompt> prompts_;  ///< in the order in which they were admitted
  RunningBatch decode_;
  Picoseconds last_pass_ps_ = 0;  ///< time of the latest decoded tokens, except for the youngest request
  std::vector<Picoseconds> first_pass_after_;  ///< ones, whose next pass is their first: theirs
  IterationBatch batch_;
  std::vector<RunningSequence> ended_;
  std::int64_t static_requests_ = 0;  ///< of the static batch that runs, with
  std::int64_t static_pages_ = 0;     ///< pages that it holds until all of them have ended
  SchedulerCounts counts_;
};

}  // namespace orrery
