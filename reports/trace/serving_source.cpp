#include "reports/trace/serving_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <queue>

#include "reports/serving_names.hpp"

namespace orrery {
namespace {

enum ServingArgument : std::uint32_t {
  prompts,
  prompt_tokens,
  outputs,
  output_tokens,
  request,
  replica,
  preemptions
};
constexpr std::array<std::string_view, 7> kServingArguments{
    "prompts", "prompt_tokens", "outputs", "output_tokens", "request", "replica", "preemptions"};

Span in_nanoseconds(Picoseconds start, Picoseconds finish) { return {start / 1000, finish / 1000}; }

}  // namespace

ServingTrace::ServingTrace(const ServingRecord& record, std::uint64_t max_spans)
    : record_(record),
      cache_{"KV cache GB", {{"held", "KV cache", 0}}, 1000, 1, true, {}},
      requests_{"requests", {{"running", "running requests", 1}, {"waiting", "waiting requests", 2}},
                1,          1'000'000,
                false,      "requests"} {
  for (const std::string_view name : {"prefill", "decode", "prefill + decode"})
    labels_.push_back(trace_label(name, "iteration"));
  for (const std::string_view name : {"request", "queued", "prompt", "transfer", "output"})
    labels_.push_back(trace_label(name, "request"));
  for (std::uint32_t label = 0; label < labels_.size(); ++label) labels_[label].number = label;
  const std::uint64_t iterations = std::uint64_t{record.iterations.size()} * record.stages;
  const std::uint64_t of_iterations = std::min(iterations, max_spans);
  const std::uint64_t of_requests = std::max(max_spans / 2, max_spans - of_iterations);
  add_requests(of_requests);
  const std::uint64_t left = max_spans - std::min<std::uint64_t>(items_.size(), max_spans);
  add_iterations(std::max<std::uint64_t>(left, 1));
  add_states(std::max<std::uint64_t>(max_spans, 2));
  order_.resize(items_.size());
  std::iota(order_.begin(), order_.end(), 0U);
  std::ranges::stable_sort(order_, {}, [this](std::uint32_t at) { return items_[at].span.start; });
}

/// Ends the item before the next one of its depth begins, where both touch.
void ServingTrace::part(std::size_t at) {
  Item& item = items_[at];
  item.apart = item.span.finish;
  for (std::size_t next = at + 1; next < items_.size(); ++next) {
    const Item& other = items_[next];
    if (other.process != item.process || other.thread != item.thread || other.depth() < item.depth()) break;
    if (other.depth() > item.depth()) continue;
    item.apart = std::min(item.apart, other.span.start - 1);
    break;
  }
  item.apart = std::max(item.apart, item.span.start);
}

void ServingTrace::add_iterations(std::uint64_t most) {
  const std::uint64_t shown =
      std::min<std::uint64_t>(record_.iterations.size(), std::max<std::uint64_t>(1, most / record_.stages));
  left_out_ += record_.left_out + record_.iterations.size() - shown;
  const std::size_t first = items_.size();
  std::vector<std::vector<std::uint32_t>> of_replica(record_.replicas);
  for (std::uint32_t i = 0; i < shown; ++i) of_replica[record_.iterations[i].replica].push_back(i);
  for (std::uint32_t r = 0; r < record_.replicas; ++r) {
    for (std::uint32_t stage = 0; stage < record_.stages; ++stage) {
      for (const std::uint32_t i : of_replica[r]) {
        const StageSpan& span = record_.spans_of(i)[stage];
        items_.push_back({in_nanoseconds(span.start_ps, span.finish_ps), 0, r, stage, i,
                          static_cast<Kind>(kind_of(record_.iterations[i]))});
      }
    }
  }
  for (std::size_t at = first; at < items_.size(); ++at) part(at);
}

/// Each on the first lane that is free when it arrives.
void ServingTrace::add_requests(std::uint64_t most) {
  constexpr std::uint64_t kSpansOfRequest = 5;
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free;
  using End = std::pair<Picoseconds, std::uint32_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  std::vector<std::vector<std::uint32_t>> of_lane;
  std::uint64_t shown = 0;
  for (std::uint32_t r = 0; r < record_.requests.size(); ++r) {
    const RequestMoments& request = record_.requests[r];
    for (; !ends.empty() && ends.top().first <= request.spec.arrival_ps; ends.pop())
      free.push(ends.top().second);
    if (free.empty() && of_lane.size() < kMostLanes) {
      free.push(static_cast<std::uint32_t>(of_lane.size()));
      of_lane.emplace_back();
    }
    if (free.empty() || (shown + 1) * kSpansOfRequest > most) {
      ++left_out_;
      continue;
    }
    ++shown;
    of_lane[free.top()].push_back(r);
    ends.emplace(request.end_ps, free.top());
    free.pop();
  }
  lanes_ = static_cast<std::uint32_t>(of_lane.size());
  for (std::uint32_t lane = 0; lane < lanes_; ++lane)
    for (const std::uint32_t r : of_lane[lane]) add_request(r, lane);
  for (std::size_t at = 0; at < items_.size(); ++at) part(at);
  // Parts of a request must end before the request does.
  Nanoseconds limit = 0;
  for (Item& item : items_) {
    if (item.kind == Kind::request) limit = std::max(item.span.start, item.apart - 1);
    if (item.kind == Kind::request) continue;
    item.span.start = std::min(item.span.start, limit);
    item.apart = std::clamp(item.apart, item.span.start, limit);
  }
}

void ServingTrace::add_request(std::uint32_t number, std::uint32_t lane) {
  const RequestMoments& of = record_.requests[number];
  const auto add = [&](Kind kind, Picoseconds from, Picoseconds to) {
    if (to > from || kind == Kind::request)
      items_.push_back({in_nanoseconds(from, to), 0, record_.replicas, lane, number, kind});
  };
  add(Kind::request, of.spec.arrival_ps, of.end_ps);
  add(Kind::queued, of.spec.arrival_ps, of.start_ps);
  add(Kind::prompt, of.start_ps, of.first_token_ps);
  if (!of.was_transferred()) return add(Kind::output, of.first_token_ps, of.end_ps);
  add(Kind::queued, of.first_token_ps, of.transfer_start_ps);
  add(Kind::transfer, of.transfer_start_ps, of.transfer_end_ps);
  add(Kind::output, of.transfer_end_ps, of.end_ps);
}

/// Adds states; of more than `most`, only those that lie apart in time.
void ServingTrace::add_states(std::uint64_t most) {
  const Picoseconds window =
      record_.states.size() <= most
          ? 0
          : record_.duration_ps / static_cast<Picoseconds>(most / std::max(1U, record_.replicas) + 1);
  std::vector<Picoseconds> next(record_.replicas);
  for (std::uint32_t s = 0; s < record_.states.size(); ++s) {
    const ReplicaState& state = record_.states[s];
    if (state.at_ps < next[state.replica]) continue;
    next[state.replica] = state.at_ps + window;
    items_.push_back({in_nanoseconds(state.at_ps, state.at_ps), 0, state.replica, 0, s, Kind::state});
  }
}

TraceProcess ServingTrace::process(std::size_t at) const {
  if (at == record_.replicas) {
    TraceProcess process{record_.replicas, "requests, from arrival to end", {}};
    for (std::uint32_t lane = 0; lane < lanes_; ++lane)
      process.threads.push_back({lane, fmt::format("lane {}", lane)});
    return process;
  }
  const auto number = static_cast<std::uint32_t>(at);
  TraceProcess process{number, replica_name(record_, number), {}};
  for (std::uint32_t stage = 0; stage < record_.stages; ++stage)
    process.threads.push_back({stage, fmt::format("stage {}", stage)});
  return process;
}

std::vector<TraceCounter> ServingTrace::counters(std::size_t at) const {
  if (at == record_.replicas) return {};
  return {cache_, requests_};
}

std::vector<const TraceLabel*> ServingTrace::labels() const {
  std::vector<const TraceLabel*> all;
  for (const TraceLabel& label : labels_) all.push_back(&label);
  return all;
}

std::span<const std::string_view> ServingTrace::argument_names() const { return kServingArguments; }

void ServingTrace::tell(TraceReader& reader) {
  for (const std::uint32_t at : order_) tell(items_[at], reader);
}

void ServingTrace::tell_thread(std::uint32_t process, std::uint32_t thread, TraceReader& reader) {
  for (const Item& item : items_)
    if (item.process == process && item.thread == thread && item.kind != Kind::state) tell(item, reader);
}

void ServingTrace::tell(const Item& item, TraceReader& reader) {
  if (item.kind == Kind::state) {
    const ReplicaState& state = record_.states[item.index];
    const std::int64_t cache = record_.cache_bytes(state.replica, state.pages);
    reader.read(item.process, cache_, item.span.start, {&cache, 1});
    const std::array<std::int64_t, 2> requests{state.running, state.waiting};
    return reader.read(item.process, requests_, item.span.start, requests);
  }
  SourceSlice slice;
  slice.process = item.process;
  slice.thread = item.thread;
  slice.depth = item.depth();
  slice.label = &labels_[static_cast<std::size_t>(item.kind)];
  slice.span = {item.span.start, std::max(item.span.start, item.span.finish)};
  slice.apart = {item.span.start, item.apart};
  if (item.kind < Kind::request) {
    tell_iteration(item, slice);
  } else {
    tell_request(item, slice);
  }
  slice.arguments = arguments_;
  reader.read(slice);
}

void ServingTrace::tell_iteration(const Item& item, SourceSlice& slice) {
  const ServedIteration& of = record_.iterations[item.index];
  name_ = iteration_name(of);
  slice.name = name_;
  arguments_.clear();
  if (of.prompt_requests > 0)
    arguments_.insert(arguments_.end(), {{prompts, of.prompt_requests}, {prompt_tokens, of.prompt_tokens}});
  if (of.decode_requests > 0)
    arguments_.insert(arguments_.end(), {{outputs, of.decode_requests}, {output_tokens, of.decode_tokens}});
}

void ServingTrace::tell_request(const Item& item, SourceSlice& slice) {
  arguments_ = {{request, item.index}};
  if (item.kind != Kind::request) return;
  const RequestMoments& of = record_.requests[item.index];
  name_ = fmt::format("request {}", item.index);
  slice.name = name_;
  arguments_.insert(arguments_.end(), {{replica, of.replica},
                                       {prompt_tokens, of.spec.prompt_tokens},
                                       {output_tokens, of.spec.output_tokens}});
  if (of.preemptions > 0) arguments_.push_back({preemptions, of.preemptions});
}

}  // namespace orrery
