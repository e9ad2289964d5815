// Chrome Trace Event JSON that Perfetto, speedscope and other viewers read alike: thread ids from 1
// and process ids above all of them (some take thread 0, or a thread with its process's id, for the
// main thread), times in us with three decimals, slices of a thread apart also for a reader that
// adds ts and dur in double, arrows that start before they end and inside their slices (so that no
// viewer drops them or binds them to a neighbour), no colour names (unknown ones abort an import).
#include "reports/trace/chrome.hpp"

#include <algorithm>
#include <vector>

#include "reports/trace/text_buffer.hpp"

namespace orrery {
namespace {

class ChromeWriter final : public TraceReader {
 public:
  ChromeWriter(TraceSource& source, const Sink& sink)
      : source_(source), out_(sink), first_process_(first_process(source.used_threads())) {
    info_.ranks = source.processes();
  }

  TraceInfo write(std::string_view metadata_json) {
    out_.make_room();
    out_.text(R"({"displayTimeUnit":"ms","metadata":)");
    out_.long_text(metadata_json);
    out_.text(",\"traceEvents\":[");
    for (std::size_t at = 0; at < source_.processes(); ++at) write_names(source_.process(at));
    source_.tell(*this);
    while (!flows_.empty()) write_next_flow();
    out_.make_room();
    out_.text("\n]}\n");
    out_.flush();
    return info_;
  }

  void read(const SourceSlice& slice) override {
    write_flows_until(slice.apart.start);
    begin_event(R"({"ph":"X","pid":)", slice.process);
    key(",\"tid\":", std::int64_t{slice.thread} + 1);
    time(",\"ts\":", slice.apart.start);
    time(",\"dur\":", slice.apart.finish - slice.apart.start);
    out_.text(",");
    write_label(slice);
    write_arguments(slice.arguments);
    out_.text("}");
    ++info_.spans;
    queue_flow(slice);
  }

  void read(std::uint32_t process, const TraceCounter& counter, Nanoseconds at,
            std::span<const std::int64_t> values) override {
    write_flows_until(at);
    begin_event(R"({"ph":"C","pid":)", process);
    time(R"(,"ts":)", at);
    out_.text(R"(,"name":")");
    out_.text(counter.name);
    out_.text(R"(","args":{)");
    for (std::size_t s = 0; s < values.size(); ++s) {
      out_.text(s == 0 ? "\"" : ",\"");
      out_.text(counter.series[s].key);
      out_.text("\":");
      out_.millionths(values[s] / counter.grain * counter.millionths);
    }
    out_.text("}}");
  }

 private:
  /// One end of an arrow; written when its time has come.
  struct FlowEnd {
    Nanoseconds time;
    std::int64_t id;
    std::uint32_t process;
    std::uint32_t thread;
    bool sends;
  };
  /// Orders the heap: the earliest is on top; ids order events of one time.
  static bool later(const FlowEnd& a, const FlowEnd& b) {
    return a.time != b.time ? a.time > b.time : a.id > b.id;
  }

  void begin_event(std::string_view head, std::uint32_t process) {
    out_.make_room();
    out_.text(first_ ? "\n" : ",\n");
    first_ = false;
    out_.text(head);
    out_.integer(std::int64_t{process} + first_process_);
  }
  void key(std::string_view name, std::int64_t value) {
    out_.text(name);
    out_.integer(value);
  }
  void time(std::string_view name, Nanoseconds value) {
    out_.text(name);
    out_.thousandths(value);
  }

  /// Its own name in place of that of its kind.
  void write_label(const SourceSlice& slice) {
    if (slice.name.empty()) return out_.text(slice.label->json);
    out_.text(R"("name":")");
    out_.text(slice.name);
    out_.text(R"(","cat":")");
    out_.text(slice.label->category);
    out_.text("\"");
  }

  /// A metadata event about a process, or about one of its threads where `thread` > 0.
  void write_metadata(std::uint32_t process, std::size_t thread, std::string_view name) {
    begin_event(R"({"ph":"M","pid":)", process);
    if (thread > 0) key(",\"tid\":", static_cast<std::int64_t>(thread));
    out_.text(R"(,"name":")");
    out_.text(name);
  }
  void write_name(std::uint32_t process, std::size_t thread, std::string_view text) {
    write_metadata(process, thread, thread > 0 ? "thread_name" : "process_name");
    out_.text(R"(","args":{"name":")");
    out_.text(text);
    out_.text("\"}}");
  }
  void write_sort_index(std::uint32_t process, std::size_t thread) {
    write_metadata(process, thread, thread > 0 ? "thread_sort_index" : "process_sort_index");
    key(R"(","args":{"sort_index":)", thread > 0 ? static_cast<std::int64_t>(thread) : process);
    out_.text("}}");
  }

  void write_names(const TraceProcess& process) {
    write_name(process.number, 0, process.name);
    write_sort_index(process.number, 0);
    for (const TraceThread& thread : process.threads) {
      write_name(process.number, thread.number + 1, thread.name);
      write_sort_index(process.number, thread.number + 1);
    }
  }

  void write_arguments(std::span<const TraceArgument> arguments) {
    bool first = true;
    for (const auto& [name, value] : arguments) {
      out_.text(first ? R"(,"args":{")" : ",\"");
      first = false;
      out_.text(source_.argument_names()[name]);
      key("\":", value);
    }
    if (!first) out_.text("}");
  }

  /// An arrow begins just after the beginning of the send slice and ends just before the end of the receive
  /// slice: inside of both also where slices are printed 1 ns shorter.
  void queue_flow(const SourceSlice& slice) {
    const Arrow arrow = slice.arrow;
    if (arrow.id == 0) return;
    const Nanoseconds at = arrow.sends ? slice.span.start + 1 : slice.span.finish - 2;
    flows_.push_back({at, static_cast<std::int64_t>(arrow.id), slice.process, slice.thread, arrow.sends});
    std::push_heap(flows_.begin(), flows_.end(), later);
    if (arrow.sends) ++info_.flows;
  }

  void write_flows_until(Nanoseconds now) {
    while (!flows_.empty() && flows_.front().time <= now) write_next_flow();
  }

  void write_next_flow() {
    std::pop_heap(flows_.begin(), flows_.end(), later);
    const FlowEnd flow = flows_.back();
    flows_.pop_back();
    begin_event(flow.sends ? R"({"ph":"s","pid":)" : R"({"ph":"f","bp":"e","pid":)", flow.process);
    key(",\"tid\":", std::int64_t{flow.thread} + 1);
    time(",\"ts\":", flow.time);
    key(",\"id\":", flow.id);
    out_.text(R"(,"name":"p2p","cat":"p2p"})");
  }

  TraceSource& source_;
  TextBuffer out_;
  std::int64_t first_process_;
  TraceInfo info_;
  std::vector<FlowEnd> flows_;  // heap of those whose slices are written
  bool first_ = true;
};

}  // namespace

TraceInfo write_chrome_trace(TraceSource& source, std::string_view metadata_json, const Sink& sink) {
  return ChromeWriter(source, sink).write(metadata_json);
}

}  // namespace orrery
