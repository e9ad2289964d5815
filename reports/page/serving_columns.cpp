#include "reports/page/serving_columns.hpp"

#include <algorithm>
#include <vector>

#include "reports/serving_names.hpp"

namespace orrery {
namespace {

/// A replica has no more points than this.
constexpr std::size_t kMostStatePoints = 3000;

/// Neighbours of one kind on a replica.
struct IterationRun {
  std::uint32_t replica = 0;
  IterationKind kind{};
  std::uint32_t count = 0;
  std::int64_t prompt_tokens = 0;
  std::int64_t decode_requests = 0;  ///< of the fullest one
  std::size_t first = 0;
  std::size_t last = 0;
};

class IterationRuns {
 public:
  /// @param most  iterations of a run
  /// @param any_kind  neighbours of other kinds too, as prompts and outputs
  IterationRuns(const ServingRecord& record, std::uint64_t most, bool any_kind)
      : record_(record), most_(most), any_kind_(any_kind) {}

  std::vector<IterationRun> take() {
    std::vector<std::vector<std::size_t>> of_replica(record_.replicas);
    for (std::size_t i = 0; i < record_.iterations.size(); ++i)
      of_replica[record_.iterations[i].replica].push_back(i);
    for (const std::vector<std::size_t>& one : of_replica)
      for (const std::size_t i : one) add(i);
    return std::move(runs_);
  }

 private:
  void add(std::size_t i) {
    const ServedIteration& of = record_.iterations[i];
    if (runs_.empty() || !continues(runs_.back(), i))
      runs_.push_back({of.replica, kind_of(of), 0, 0, 0, i, i});
    IterationRun& run = runs_.back();
    if (run.kind != kind_of(of)) run.kind = IterationKind::mixed;
    ++run.count;
    run.prompt_tokens += of.prompt_tokens;
    run.decode_requests = std::max<std::int64_t>(run.decode_requests, of.decode_requests);
    run.last = i;
  }

  /// Returns true if the gap between two iterations is no longer than the first stage's time.
  [[nodiscard]] bool continues(const IterationRun& run, std::size_t i) const {
    const ServedIteration& of = record_.iterations[i];
    if (run.count >= most_ || run.replica != of.replica) return false;
    if (!any_kind_ && run.kind != kind_of(of)) return false;
    const StageSpan& next = record_.spans_of(i)[0];
    return next.start_ps - record_.iterations[run.last].end_ps <= next.finish_ps - next.start_ps;
  }

  const ServingRecord& record_;
  std::uint64_t most_;
  bool any_kind_;
  std::vector<IterationRun> runs_;
};

std::vector<double> in_percentiles(std::vector<double> values) {
  std::vector<double> curve;
  if (values.empty()) return curve;
  std::ranges::sort(values);
  for (std::size_t point = 0; point < kCurvePoints; ++point) {
    const std::size_t steps = kCurvePoints - 1;
    const std::size_t rank = (point * values.size() + steps - 1) / steps;
    curve.push_back(values[std::max<std::size_t>(rank, 1) - 1]);
  }
  return curve;
}

}  // namespace

std::uint64_t add_iterations(const ServingRecord& record, std::uint64_t max_spans, Page& page) {
  const std::uint64_t spans = std::uint64_t{record.iterations.size()} * record.stages;
  const std::uint64_t most = std::max<std::uint64_t>(1, (spans + max_spans - 1) / max_spans);
  std::vector<IterationRun> runs = IterationRuns(record, most, false).take();
  if (most > 1 && runs.size() * record.stages > max_spans) runs = IterationRuns(record, most, true).take();
  page.add_column<std::uint32_t>("iteration.replica", runs, &IterationRun::replica);
  page.add_column<std::uint8_t>("iteration.kind", runs, &IterationRun::kind);
  page.add_column<std::uint32_t>("iteration.count", runs, &IterationRun::count);
  page.add_column<double>("iteration.promptTokens", runs, &IterationRun::prompt_tokens);
  page.add_column<std::uint32_t>("iteration.decodeRequests", runs, &IterationRun::decode_requests);
  for (std::uint32_t stage = 0; stage < record.stages; ++stage) {
    page.add_column<double>("iteration.start." + std::to_string(stage), runs, [&](const IterationRun& run) {
      return record.spans_of(run.first)[stage].start_ps;
    });
    page.add_column<double>("iteration.finish." + std::to_string(stage), runs, [&](const IterationRun& run) {
      return record.spans_of(run.last)[stage].finish_ps;
    });
  }
  return most;
}

void add_requests(const ServingRecord& record, std::uint64_t most, Page& page) {
  const auto shown = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(most, record.requests.size()));
  const std::vector<RequestMoments> list(record.requests.begin(), record.requests.begin() + shown);
  using R = RequestMoments;
  page.add_column<double>("request.arrival", list, [](const R& r) { return r.spec.arrival_ps; });
  page.add_column<double>("request.start", list, &R::start_ps);
  page.add_column<double>("request.first", list, &R::first_token_ps);
  page.add_column<double>("request.sent", list, &R::transfer_start_ps);
  page.add_column<double>("request.received", list, &R::transfer_end_ps);
  page.add_column<double>("request.end", list, &R::end_ps);
  page.add_column<std::uint32_t>("request.promptTokens", list,
                                 [](const R& r) { return r.spec.prompt_tokens; });
  page.add_column<std::uint32_t>("request.outputTokens", list,
                                 [](const R& r) { return r.spec.output_tokens; });
  page.add_column<std::uint32_t>("request.replica", list, &R::replica);
  page.add_column<std::uint32_t>("request.decodeReplica", list, &R::decode_replica);
  page.add_column<std::uint32_t>("request.preemptions", list, &R::preemptions);
}

void add_states(const ServingRecord& record, Page& page) {
  std::vector<std::vector<ReplicaState>> of_replica(record.replicas);
  for (const ReplicaState& state : record.states) of_replica[state.replica].push_back(state);
  std::vector<ReplicaState> shown;
  for (const std::vector<ReplicaState>& states : of_replica) {
    const std::size_t group = states.size() / kMostStatePoints + 1;
    for (std::size_t first = 0; first < states.size(); first += group) {
      ReplicaState highest = states[first];
      for (std::size_t i = first; i < std::min(states.size(), first + group); ++i) {
        highest.pages = std::max(highest.pages, states[i].pages);
        highest.running = std::max(highest.running, states[i].running);
        highest.waiting = std::max(highest.waiting, states[i].waiting);
      }
      shown.push_back(highest);
    }
  }
  page.add_column<std::uint32_t>("state.replica", shown, &ReplicaState::replica);
  page.add_column<double>("state.at", shown, &ReplicaState::at_ps);
  page.add_column<double>("state.bytes", shown, [&](const ReplicaState& state) {
    return record.cache_bytes(state.replica, state.pages);
  });
  page.add_column<std::uint32_t>("state.running", shown, &ReplicaState::running);
  page.add_column<std::uint32_t>("state.waiting", shown, &ReplicaState::waiting);
}

void add_latencies(const ServingRecord& record, Page& page) {
  std::vector<double> ttft;
  std::vector<double> tpot;
  std::vector<double> end_to_end;
  std::vector<double> queue;
  for (const RequestMoments& of : record.requests) {
    const Picoseconds arrival = of.spec.arrival_ps;
    ttft.push_back(to_seconds(of.first_token_ps - arrival));
    end_to_end.push_back(to_seconds(of.end_ps - arrival));
    queue.push_back(to_seconds(of.start_ps - arrival));
    if (of.spec.output_tokens > 1)
      tpot.push_back(to_seconds(of.end_ps - of.first_token_ps) /
                     static_cast<double>(of.spec.output_tokens - 1));
  }
  page.add_column("latency.ttft", in_percentiles(std::move(ttft)));
  page.add_column("latency.tpot", in_percentiles(std::move(tpot)));
  page.add_column("latency.endToEnd", in_percentiles(std::move(end_to_end)));
  page.add_column("latency.queue", in_percentiles(std::move(queue)));
}

}  // namespace orrery
