// Chrome Trace Event JSON that Perfetto, speedscope and other viewers read alike: thread ids from 1
// and process ids above all of them (some take thread 0, or a thread with its process's id, for the
// main thread), times in us with three decimals, slices of a thread apart also for a reader that
// adds ts and dur in double, arrows that start before they end and inside their slices (so that no
// viewer drops them or binds them to a neighbour), no colour names (unknown ones abort an import).
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reports/source_heap.hpp"
#include "reports/text_buffer.hpp"
#include "reports/trace_counters.hpp"
#include "reports/trace_labels.hpp"
#include "reports/trace_plan.hpp"

namespace orrery {
namespace {

/// Traces up to this many spans show every step of the counters and every argument.
constexpr std::uint64_t kDetailedSpans = 20'000;
/// In longer ones, a rank has a sample of each counter for this many spans.
constexpr std::uint64_t kSpansPerSample = 128;

struct RankTrace {
  std::uint32_t rank;
  std::vector<SpanCursor> streams;
  MemoryCounter memory;
  LinkCounter link;
};

/// Streams up to the last one that a program uses.
std::uint32_t used_streams(const Workload& workload) {
  std::uint32_t used = 0;
  for (const Program& program : workload.programs) {
    for (const Op& op : program.ops) used = std::max(used, static_cast<std::uint32_t>(op.stream) + 1);
  }
  return used;
}

/// Process ids are ranks plus this: a power of ten above every thread id.
std::int64_t first_process(const Workload& workload) {
  std::int64_t first = 10;
  while (first <= used_streams(workload)) first *= 10;
  return first;
}

/// Duration to print for a slice followed by one at `next` on its thread. Where they touch, 1 ns
/// less: a reader that adds or rebases times in double may else see them overlap.
Nanoseconds printed_duration(const Span& span, Nanoseconds next) {
  const Nanoseconds duration = span.finish - span.start;
  return next == span.finish && duration > 0 ? duration - 1 : duration;
}

/// A slice shorter than this has no room for both ends of an arrow.
constexpr Nanoseconds kShortestWithArrow = 5;

class TraceWriter {
 public:
  TraceWriter(const TracePlan& plan, const RankGrid& grid, const Sink& sink)
      : plan_(plan),
        grid_(grid),
        out_(sink),
        streams_(plan.run.workload.streams),
        first_process_(first_process(plan.run.workload)) {
    info_.ranks = plan.ranks.size();
  }

  TraceInfo write(const TraceOptions& options) {
    out_.make_room();
    out_.text(R"({"displayTimeUnit":"ms","metadata":)");
    out_.long_text(options.metadata_json);
    out_.text(",\"traceEvents\":[");
    for (const std::uint32_t rank : plan_.ranks) write_names(rank);
    write_events();
    out_.make_room();
    out_.text("\n]}\n");
    out_.flush();
    return info_;
  }

 private:
  /// One end of an arrow; written when its time has come.
  struct FlowEnd {
    Nanoseconds time;
    std::int64_t id;
    std::uint32_t rank;
    Stream stream;
    bool sends;
  };
  /// Heap order: the earliest on top; ids order what falls on one time.
  static bool later(const FlowEnd& a, const FlowEnd& b) {
    return a.time != b.time ? a.time > b.time : a.id > b.id;
  }

  /// Events of one rank come from its streams and its two counters.
  [[nodiscard]] std::uint32_t sources() const { return streams_ + 2; }
  [[nodiscard]] bool detailed() const { return plan_.spans <= kDetailedSpans; }

  void begin_event(std::string_view head, std::uint32_t rank) {
    out_.make_room();
    out_.text(first_ ? "\n" : ",\n");
    first_ = false;
    out_.text(head);
    out_.integer(std::int64_t{rank} + first_process_);
  }
  void key(std::string_view name, std::int64_t value) {
    out_.text(name);
    out_.integer(value);
  }
  void time(std::string_view name, Nanoseconds value) {
    out_.text(name);
    out_.thousandths(value);
  }

  /// A metadata event about a rank, or about one of its threads where `thread` > 0.
  void write_metadata(std::uint32_t rank, std::size_t thread, std::string_view name) {
    begin_event(R"({"ph":"M","pid":)", rank);
    if (thread > 0) key(",\"tid\":", static_cast<std::int64_t>(thread));
    out_.text(R"(,"name":")");
    out_.text(name);
  }
  void write_name(std::uint32_t rank, std::size_t thread, std::string_view text) {
    write_metadata(rank, thread, thread > 0 ? "thread_name" : "process_name");
    out_.text(R"(","args":{"name":")");
    out_.text(text);
    out_.text("\"}}");
  }
  void write_sort_index(std::uint32_t rank, std::size_t thread) {
    write_metadata(rank, thread, thread > 0 ? "thread_sort_index" : "process_sort_index");
    key(R"(","args":{"sort_index":)", thread > 0 ? static_cast<std::int64_t>(thread) : rank);
    out_.text("}}");
  }

  [[nodiscard]] std::string places_in_words(std::uint32_t rank) const {
    std::string text;
    for (std::size_t a = 0; a < kAxisCount; ++a) {
      const auto axis = static_cast<Axis>(a);
      if (kAxes[a].always_named || grid_.size(axis) > 1)
        text += fmt::format(" {} {}", kAxes[a].name, grid_.place(rank, axis));
    }
    return text;
  }

  void write_names(std::uint32_t rank) {
    const NodeId node = plan_.run.topology.node_of(GpuId{rank});
    const std::uint32_t gpu = rank % plan_.run.topology.gpus_per_node();
    write_name(rank, 0,
               fmt::format("rank {}:{} (node {}, gpu {})", rank, places_in_words(rank), index(node), gpu));
    write_sort_index(rank, 0);
    const StreamOps& streams = plan_.streams[plan_.program_of(rank)];
    for (std::size_t s = 0; s < streams_; ++s) {
      if (streams[s].empty()) continue;
      write_name(rank, s + 1, stream_name(static_cast<Stream>(s)));
      write_sort_index(rank, s + 1);
    }
  }

  [[nodiscard]] Nanoseconds counter_window(std::uint32_t rank) const {
    if (detailed()) return 0;
    std::uint64_t spans = 0;
    for (const auto& list : plan_.streams[plan_.program_of(rank)]) spans += list.size();
    const std::uint64_t samples = spans / kSpansPerSample + 2;
    return plan_.run.timeline.makespan_ps / 1000 / static_cast<Nanoseconds>(samples);
  }

  std::vector<RankTrace> open_ranks(SourceHeap& heap) const {
    std::vector<RankTrace> ranks;
    ranks.reserve(plan_.ranks.size());
    for (const std::uint32_t rank : plan_.ranks) {
      const auto base = static_cast<std::uint32_t>(ranks.size() * sources());
      const Nanoseconds window = counter_window(rank);
      RankTrace& trace =
          ranks.emplace_back(RankTrace{rank, std::vector<SpanCursor>(streams_),
                                       MemoryCounter(plan_, rank, window), LinkCounter(plan_, rank, window)});
      for (std::uint32_t s = 0; s < streams_; ++s) {
        trace.streams[s].ops = &plan_.streams[plan_.program_of(rank)][s];
        trace.streams[s].load(plan_, rank);
        heap.add(trace.streams[s].span.start, base + s);
      }
      heap.add(trace.memory.time(), base + streams_);
      heap.add(trace.link.time(), base + streams_ + 1);
    }
    heap.heapify();
    return ranks;
  }

  void write_events() {
    SourceHeap heap;
    std::vector<RankTrace> ranks = open_ranks(heap);
    while (!heap.empty()) {
      const auto [now, source] = heap.top();
      while (!flows_.empty() && flows_.front().time <= now) write_next_flow();
      RankTrace& trace = ranks[source / sources()];
      const std::uint32_t which = source % sources();
      if (which == streams_) {
        heap.replace_top(write_memory(trace));
      } else if (which > streams_) {
        heap.replace_top(write_links(trace));
      } else {
        heap.replace_top(write_span(trace, which));
      }
    }
    while (!flows_.empty()) write_next_flow();
  }

  /// Each writes one event and returns the time of the source's following one.
  Nanoseconds write_memory(RankTrace& trace) {
    begin_event(R"({"ph":"C","pid":)", trace.rank);
    time(R"(,"ts":)", trace.memory.time());
    out_.text(R"(,"name":"memory GB","args":{"total":)");
    out_.millionths(trace.memory.take() / 1000);
    out_.text("}}");
    return trace.memory.time();
  }

  Nanoseconds write_links(RankTrace& trace) {
    begin_event(R"({"ph":"C","pid":)", trace.rank);
    time(R"(,"ts":)", trace.link.time());
    out_.text(R"(,"name":"link GB/s","args":{)");
    const LinkCounter::Rates rates = trace.link.take();
    bool first = true;
    for (std::size_t d = 0; d < kDimensionCount; ++d) {
      if (!trace.link.uses(d)) continue;
      out_.text(first ? "\"" : ",\"");
      first = false;
      out_.text(kDimensionNames[d]);
      out_.text("\":");
      out_.millionths(rates[d] / 1'000'000 * 1000);
    }
    out_.text("}}");
    return trace.link.time();
  }

  Nanoseconds write_span(RankTrace& trace, std::size_t stream) {
    SpanCursor& cursor = trace.streams[stream];
    const Span span = cursor.span;
    const Op& op = plan_.op(trace.rank, cursor.op);
    const std::uint32_t index = cursor.op;
    cursor.load(plan_, trace.rank);
    const Nanoseconds duration = printed_duration(span, cursor.span.start);
    begin_event(R"({"ph":"X","pid":)", trace.rank);
    key(",\"tid\":", static_cast<std::int64_t>(stream) + 1);
    time(",\"ts\":", span.start);
    time(",\"dur\":", duration);
    out_.text(",");
    out_.text(labels_.of(plan_.run.workload, op).json);
    write_arguments(trace.rank, op);
    out_.text("}");
    ++info_.spans;
    if (op.kind == Op::Kind::communicate) queue_flow(trace.rank, index, span);
    return cursor.span.start;
  }

  void open_argument(std::string_view name) {
    out_.text(has_arguments_ ? ",\"" : R"(,"args":{")");
    has_arguments_ = true;
    out_.text(name);
  }
  void argument(std::string_view name, std::int64_t value) {
    open_argument(name);
    key("\":", value);
  }
  void write_arguments(std::uint32_t rank, const Op& op) {
    has_arguments_ = false;
    if (op.layer >= 0) argument("layer", op.layer);
    if (op.micro_batch >= 0) argument("microbatch", op.micro_batch);
    if (plan_.run.workload.steps > 1) argument("step", op.step);
    if (op.kind != Op::Kind::compute) argument("group", plan_.run.workload.group(rank, op.slot));
    if (detailed()) write_more_arguments(rank, op);
    if (has_arguments_) out_.text("}");
  }

  void write_more_arguments(std::uint32_t rank, const Op& op) {
    if (op.chunk > 0) argument("chunk", op.chunk);
    if (op.kind == Op::Kind::compute) return;
    argument("ranks", static_cast<std::int64_t>(plan_.members(rank, op).size()));
    if (op.kind != Op::Kind::communicate) return;
    const Message& message = plan_.run.workload.messages[op.work];
    argument("bytes", message.bytes);
    if (message.times > 1) argument("times", message.times);
  }

  /// An arrow from the beginning of the send slice to the end of the receive slice, if both ranks are
  /// in the trace.
  void queue_flow(std::uint32_t rank, std::uint32_t index, const Span& span) {
    if (span.finish - span.start < kShortestWithArrow) return;
    const Op& op = plan_.op(rank, index);
    const Workload& workload = plan_.run.workload;
    if (workload.messages[op.work].collective != Collective::send_recv) return;
    const auto pair = plan_.members(rank, op);
    if (pair.size() < 2) return;
    if (!plan_.has_rank[pair[0]] || !plan_.has_rank[pair[1]]) return;
    const std::uint32_t task =
        plan_.run.expanded.task(plan_.run.expanded.representatives.class_of_rank[rank], index);
    const std::int64_t id = std::int64_t{task} * workload.ranks() + pair[0] + 1;
    const bool sends = pair[0] == rank;
    const Nanoseconds at = sends ? span.start + 1 : span.finish - 2;
    flows_.push_back({at, id, rank, op.stream, sends});
    std::push_heap(flows_.begin(), flows_.end(), later);
    if (sends) ++info_.flows;
  }

  void write_next_flow() {
    std::pop_heap(flows_.begin(), flows_.end(), later);
    const FlowEnd flow = flows_.back();
    flows_.pop_back();
    begin_event(flow.sends ? R"({"ph":"s","pid":)" : R"({"ph":"f","bp":"e","pid":)", flow.rank);
    key(",\"tid\":", static_cast<std::int64_t>(flow.stream) + 1);
    time(",\"ts\":", flow.time);
    key(",\"id\":", flow.id);
    out_.text(R"(,"name":"p2p","cat":"p2p"})");
  }

  const TracePlan& plan_;
  const RankGrid& grid_;
  TextBuffer out_;
  std::uint32_t streams_;
  std::int64_t first_process_;
  TraceLabels labels_;
  TraceInfo info_;
  std::vector<FlowEnd> flows_;  // heap of those whose slices are written
  bool first_ = true;
  bool has_arguments_ = false;  // of the slice being written
};

}  // namespace

TraceInfo write_trace(const RunView& run, const RankGrid& grid, const TraceOptions& options,
                      const Sink& sink) {
  const TracePlan plan = plan_trace(run, grid, options);
  return TraceWriter(plan, grid, sink).write(options);
}

}  // namespace orrery
