#include "reports/trace/walk.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/trace/source_heap.hpp"

namespace orrery {
namespace {

/// In traces without details, a rank has a sample of each counter for this many operations, and no more than
/// for each span.
constexpr std::uint64_t kOperationsPerSample = 128;

struct RankTrace {
  std::uint32_t rank;
  std::vector<SliceCursor> threads;
  MemoryCounter memory;
  LinkCounter link;
};

class Walk {
 public:
  Walk(const TracePlan& plan, TraceEvents& events)
      : plan_(plan), events_(events), streams_(plan.run.workload.streams) {
    open_ranks();
  }

  void run() {
    while (!heap_.empty()) {
      const std::uint32_t source = heap_.top().source;
      RankTrace& trace = ranks_[source / sources()];
      const std::uint32_t which = source % sources();
      heap_.replace_top(which < streams_ ? slice(trace.threads[which])
                                         : (which == streams_ ? memory(trace) : links(trace)));
    }
  }

 private:
  /// Events of one rank come from its streams and its two counters.
  [[nodiscard]] std::uint32_t sources() const { return streams_ + 2; }

  [[nodiscard]] Nanoseconds counter_window(std::uint32_t rank) const {
    if (is_detailed(plan_)) return 0;
    const std::uint64_t samples =
        std::min(plan_.operations_of(rank) / kOperationsPerSample, plan_.spans_of(rank)) + 2;
    return plan_.run.timeline.makespan_ps / 1000 / static_cast<Nanoseconds>(samples);
  }

  void open_ranks() {
    ranks_.reserve(plan_.ranks.size());
    for (const std::uint32_t rank : plan_.ranks) {
      const auto base = static_cast<std::uint32_t>(ranks_.size() * sources());
      const Nanoseconds window = counter_window(rank);
      RankTrace& trace = ranks_.emplace_back(
          RankTrace{rank, {}, MemoryCounter(plan_, rank, window), LinkCounter(plan_, rank, window)});
      trace.threads.reserve(streams_);
      for (std::uint32_t s = 0; s < streams_; ++s) {
        trace.threads.emplace_back(plan_, rank, s);
        heap_.add(trace.threads[s].slice().apart.start, base + s);
      }
      heap_.add(trace.memory.time(), base + streams_);
      heap_.add(trace.link.time(), base + streams_ + 1);
    }
    heap_.heapify();
  }

  /// Each tells one event and returns the time of the source's following one.
  Nanoseconds slice(SliceCursor& thread) {
    events_.slice(thread.slice());
    thread.advance();
    return thread.slice().apart.start;
  }
  Nanoseconds memory(RankTrace& trace) {
    const Nanoseconds time = trace.memory.time();
    events_.memory(trace.rank, time, trace.memory.take());
    return trace.memory.time();
  }
  Nanoseconds links(RankTrace& trace) {
    const Nanoseconds time = trace.link.time();
    const LinkCounter::Rates rates = trace.link.take();
    events_.links(trace.rank, time, rates, trace.link);
    return trace.link.time();
  }

  const TracePlan& plan_;
  TraceEvents& events_;
  std::uint32_t streams_;
  SourceHeap heap_;
  std::vector<RankTrace> ranks_;
};

std::string places_in_words(const RankGrid& grid, std::uint32_t rank) {
  std::string text;
  for (std::size_t a = 0; a < kAxisCount; ++a) {
    const auto axis = static_cast<Axis>(a);
    if (kAxes[a].always_named || grid.size(axis) > 1)
      text += fmt::format(" {} {}", kAxes[a].name, grid.place(rank, axis));
  }
  return text;
}

}  // namespace

void walk(const TracePlan& plan, TraceEvents& events) { Walk(plan, events).run(); }

std::vector<std::uint32_t> traced_streams(const TracePlan& plan, std::uint32_t rank) {
  const StreamOps& streams = plan.streams[plan.program_of(rank)];
  std::vector<std::uint32_t> traced;
  for (std::uint32_t s = 0; s < streams.size(); ++s) {
    const bool shown = plan.level == TraceLevel::operation || static_cast<Stream>(s) == Stream::compute;
    if (shown && !streams[s].empty()) traced.push_back(s);
  }
  return traced;
}

std::uint32_t used_streams(const Workload& workload) {
  std::uint32_t used = 0;
  for (const Program& program : workload.programs) {
    for (const Op& op : program.ops) used = std::max(used, static_cast<std::uint32_t>(op.stream) + 1);
  }
  return used;
}

std::string process_name(const TracePlan& plan, const RankGrid& grid, std::uint32_t rank) {
  const NodeId node = plan.run.topology.node_of(GpuId{rank});
  const std::uint32_t gpu = rank % plan.run.topology.gpus_per_node();
  return fmt::format("rank {}:{} (node {}, gpu {})", rank, places_in_words(grid, rank), index(node), gpu);
}

}  // namespace orrery
