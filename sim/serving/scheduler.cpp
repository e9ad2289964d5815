#include "sim/serving/scheduler.hpp"

#include <algorithm>
#include <utility>

#include "sim/serving/requests.hpp"

namespace orrery {

namespace {

/// Stands for as many passes as any interval has: the engine looks for requests before the next iteration.
constexpr std::int64_t kLookNext = std::int64_t{1} << 40;

}  // namespace

std::int64_t ServingRules::own_pages(const ServedRequest& request, std::int64_t tokens) const {
  return pages(tokens) - reused_tokens(inference, request.spec.prompt_tokens) / inference.page_tokens;
}

void IterationOutcome::clear() {
  ended.clear();
  prefilled.clear();
  places = 0;
}

Scheduler::Scheduler(const ServingRules& rules, ReplicaRole role, std::int64_t limit, PagePool& pages)
    : rules_(rules), role_(role), limit_(limit), pages_(pages), decode_(rules.inference, rules.seed) {
  if (!rules.inference.chunked_prefill) return;
  // Every request that decodes is in every iteration.
  const std::int64_t most = std::max<std::int64_t>(1, rules.token_budget / decode_.tokens_per_row());
  limit_ = limit_ == 0 ? most : std::min(limit_, most);
}

const IterationBatch& Scheduler::schedule_batch(Picoseconds now, bool complete) {
  batch_ = {};
  for (const std::uint32_t number : joining_)  // not while an iteration without them was in flight
    begin_decoding(number, request(number).spec.prompt_tokens);
  joining_.clear();
  look_for_requests();
  if (is_static()) {
    schedule_static(now, complete);
  } else if (rules_.inference.chunked_prefill) {
    schedule_chunked_prefill(now);
  } else {
    schedule_whole_prompts(now);
  }
  if (batch_.tokens() > 0) passes_since_look_ = batch_.prompt_tokens > 0 ? kLookNext : passes_since_look_ + 1;
  return batch_;
}

/// Static batches wait for all of their requests, so the engine always looks.
void Scheduler::look_for_requests() {
  const bool is_due = passes_since_look_ >= rules_.inference.recv_interval;
  if (!is_due && in_batch() > 0 && !is_static()) return;
  seen_ = waiting();
  passes_since_look_ = 0;
}

void Scheduler::begin_decoding(std::uint32_t number, std::int64_t cached) {
  decode_.add(number, cached, request(number).left());
  first_pass_after_.push_back(request(number).token_ps);
}

/// The whole batch is there before any of it begins, with the pages for all it will ever need.
void Scheduler::schedule_static(Picoseconds now, bool complete) {
  if (in_batch() == 0 && (complete || static_cast<std::int64_t>(waiting_.size()) >= limit_)) {
    while (admit(true)) {
    }
    static_requests_ = in_batch();
  }
  if (prompts_.empty()) return add_decode();
  add_prefill(rules_.token_budget, now);
}

/// Schedules prefill first; decode pauses meanwhile.
void Scheduler::schedule_whole_prompts(Picoseconds now) {
  std::int64_t tokens = 0;
  while (seen_ > 0) {
    const ServedRequest& next = request(waiting_.front());
    tokens += next.to_cache() - reused_tokens(rules_.inference, next.spec.prompt_tokens);
    if ((!prompts_.empty() && tokens > rules_.token_budget) || !admit(reserves())) break;
  }
  if (!prompts_.empty()) return add_prefill(tokens, now);
  if (reserve_blocks()) add_decode();
}

/// Schedules decode first; prefill gets the rest of the budget (Agrawal et al. 2024, section 4).
void Scheduler::schedule_chunked_prefill(Picoseconds now) {
  if (reserve_blocks()) add_decode();
  std::int64_t budget = rules_.token_budget - batch_.decode_tokens;
  std::int64_t admitted = 0;
  for (const Prompt& prompt : prompts_) admitted += prompt.total - prompt.done;
  while (admitted < budget && admit(reserves())) admitted += prompts_.back().total - prompts_.back().done;
  add_prefill(budget, now);
}

/// Takes the next request into the batch, where it has a slot and pages for its prompt, or for its whole
/// length.
bool Scheduler::admit(bool whole_length) {
  if (seen_ == 0 || !has_free_slot()) return false;
  const ServedRequest& next = request(waiting_.front());
  const std::int64_t pages = pages_of(next, whole_length ? next.most_cached() : next.to_cache());
  if (!pages_.take(pages)) return false;
  if (is_static()) static_pages_ += pages;
  prompts_.push_back(
      {waiting_.front(), reused_tokens(rules_.inference, next.spec.prompt_tokens), next.to_cache()});
  waiting_.pop_front();
  --seen_;
  return true;
}

void Scheduler::add_decode() {
  if (decode_.live() == 0) return;
  batch_.decode_requests = decode_.rows();
  batch_.decode_tokens = decode_.rows() * decode_.tokens_per_row();
  batch_.decode_context = decode_.context();
  batch_.results += batch_.decode_tokens;
}

/// Adds prefill tokens of the batch's prompts in order, as the budget allows. The first prompt adds at least
/// one token if the iteration is otherwise empty.
void Scheduler::add_prefill(std::int64_t budget, Picoseconds now) {
  const bool in_pieces = rules_.inference.chunked_prefill;
  for (Prompt& prompt : prompts_) {
    const std::int64_t rest = prompt.total - prompt.done;
    const std::int64_t tokens = in_pieces ? std::min(rest, budget) : rest;
    if (in_pieces ? tokens <= 0 : batch_.prompt_tokens > 0 && tokens > budget) return;
    add_chunk(prompt, tokens, now);
    budget -= tokens;
  }
}

void Scheduler::add_chunk(Prompt& prompt, std::int64_t tokens, Picoseconds now) {
  batch_.prompt_tokens += tokens;
  ++batch_.prompt_requests;
  batch_.prompt_pairs += tokens * prompt.done + tokens * (tokens + 1) / 2;
  prompt.done += tokens;
  batch_.prompt_context += prompt.done;
  if (prompt.done == prompt.total) ++batch_.results;
  ServedRequest& begun = request(prompt.request);
  if (begun.start_ps == ServedRequest::kNotYet) begun.start_ps = now;
}

/// Pages for the next pass of all that decode, where need be those of the youngest requests; whether anybody
/// decodes.
bool Scheduler::reserve_blocks() {
  if (reserves()) return decode_.live() > 0;
  while (decode_.live() > 0 && !pages_.take(decode_.new_pages())) preempt_youngest();
  return decode_.live() > 0;
}

/// The request that came into the batch last loses its pages, and is computed again from its beginning when
/// there are some (Kwon et al. 2023, section 4.5).
void Scheduler::preempt_youngest() {
  ++counts_.preemptions;
  std::uint32_t number = 0;
  if (!prompts_.empty()) {
    const Prompt prompt = prompts_.back();
    prompts_.pop_back();
    number = prompt.request;
    pages_.give_back(pages_of(request(number), prompt.total));
    counts_.recomputed_tokens +=
        prompt.done - reused_tokens(rules_.inference, request(number).spec.prompt_tokens);
  } else {
    const RunningSequence member = decode_.remove_youngest();
    number = member.request;
    pages_.give_back(pages_of(request(number), member.room));
    counts_.recomputed_tokens +=
        member.cached - reused_tokens(rules_.inference, request(number).spec.prompt_tokens);
    request(number).made = request(number).spec.output_tokens - member.left;
    request(number).token_ps = first_pass_after_.empty() ? last_pass_ps_ : first_pass_after_.back();
    if (!first_pass_after_.empty()) first_pass_after_.pop_back();
  }
  if (rules_.recorder != nullptr) rules_.recorder->preempted(number);
  waiting_.push_front(number);
  ++seen_;
}

std::int64_t Scheduler::messages() const {
  const auto complete = [](const Prompt& prompt) { return prompt.done == prompt.total; };
  return (batch_.decode_requests > 0 ? decode_.live() : 0) + std::ranges::count_if(prompts_, complete);
}

void Scheduler::finish(Picoseconds delivered, IterationOutcome& outcome) {
  if (batch_.decode_requests > 0) {
    ended_.clear();
    note_gaps(delivered);
    decode_.step(ended_);
    for (const RunningSequence& member : ended_)
      end(member.request, pages_of(request(member.request), member.room), delivered, outcome);
  }
  while (!prompts_.empty() && prompts_.front().done == prompts_.front().total) {
    finish_prompt(prompts_.front(), delivered, outcome);
    prompts_.pop_front();
  }
  if (is_static()) finish_static(outcome);
}

/// A pass brings tokens to all that decode, at one time.
void Scheduler::note_gaps(Picoseconds now) {
  rules_.gaps->add(now - last_pass_ps_, decode_.live() - static_cast<std::int64_t>(first_pass_after_.size()));
  for (const Picoseconds before : first_pass_after_) rules_.gaps->add(now - before, 1);
  first_pass_after_.clear();
  last_pass_ps_ = now;
}

void Scheduler::finish_prompt(const Prompt& prompt, Picoseconds now, IterationOutcome& outcome) {
  ServedRequest& done = request(prompt.request);
  ++done.made;
  if (done.first_token_ps == ServedRequest::kNotYet) {
    done.first_token_ps = now;
  } else {
    rules_.gaps->add(now - done.token_ps, 1);
  }
  done.token_ps = now;
  if (done.left() == 0) return end(prompt.request, pages_of(done, prompt.total), now, outcome);
  if (role_ == ReplicaRole::prefill) {
    outcome.prefilled.push_back(prompt.request);
  } else {
    begin_decoding(prompt.request, prompt.total);
  }
}

void Scheduler::end(std::uint32_t number, std::int64_t pages, Picoseconds now, IterationOutcome& outcome) {
  request(number).made = request(number).spec.output_tokens;
  request(number).end_ps = now;
  outcome.ended.push_back(number);
  if (is_static()) return;
  pages_.give_back(reserves() ? pages_of(request(number), request(number).most_cached()) : pages);
  ++outcome.places;
}

void Scheduler::finish_static(IterationOutcome& outcome) {
  if (decode_.live() > 0 || !prompts_.empty()) return;
  decode_.clear_ended();
  pages_.give_back(std::exchange(static_pages_, 0));
  outcome.places += std::exchange(static_requests_, 0);
}

}  // namespace orrery
