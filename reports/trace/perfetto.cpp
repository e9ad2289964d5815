// Perfetto's native form: a sequence of packets in the encoding of protocol buffers, after the public schema
// (https://perfetto.dev/docs/reference/trace-packet-proto). A track per thread below one per process, names
// interned, times exact. The end of a slice is written with the next slice of its track: readers sort packets
// by time, but keep the order of those at one time, in which slices have to close before others open.
#include "reports/trace/perfetto.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "reports/trace/proto_message.hpp"

namespace orrery {
namespace {

// Numbers of fields, by message.
constexpr std::uint32_t kPacket = 1;  // of the trace
namespace packet {
constexpr std::uint32_t kChromeEvents = 5, kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInterned = 12,
                        kSequenceFlags = 13, kTrackDescriptor = 60;
constexpr std::uint64_t kStateCleared = 1, kNeedsState = 2;  // of kSequenceFlags
}  // namespace packet
namespace chrome_events {
constexpr std::uint32_t kMetadata = 2, kName = 1, kString = 2;
}
namespace interned {
constexpr std::uint32_t kCategories = 1, kEventNames = 2, kAnnotationNames = 3, kId = 1, kName = 2;
}
namespace track {
constexpr std::uint32_t kUuid = 1, kName = 2, kProcess = 3, kParent = 5, kCounter = 8, kChildOrdering = 11,
                        kSiblingRank = 12, kProcessOrdering = 19;
constexpr std::uint32_t kPid = 1, kProcessName = 6;  // of kProcess
constexpr std::uint32_t kUnit = 3, kUnitName = 6;    // of kCounter
constexpr std::uint64_t kByRank = 3, kProcessesByRank = 1, kBytes = 3;
}  // namespace track
namespace event {
constexpr std::uint32_t kCategory = 3, kAnnotation = 4, kType = 9, kName = 10, kTrack = 11, kOwnName = 23,
                        kCounterValue = 30, kFlow = 47, kLastFlow = 48;
constexpr std::uint64_t kBegin = 1, kEnd = 2, kCounter = 4;  // of kType
constexpr std::uint32_t kAnnotationName = 1, kInteger = 4;   // of kAnnotation
}  // namespace event

/// Packets are handed on in blocks of this many bytes.
constexpr std::size_t kBlock = 1 << 20;

class PerfettoWriter final : public TraceReader {
 public:
  PerfettoWriter(TraceSource& source, const Sink& sink)
      : source_(source),
        sink_(sink),
        threads_per_process_(source.threads()),
        tracks_per_process_(std::uint64_t{source.threads()} + source.series() + 1) {
    info_.ranks = source.processes();
  }

  TraceInfo write(std::string_view metadata_json) {
    write_interned();
    write_metadata(metadata_json);
    write_root();
    for (std::size_t at = 0; at < source_.processes(); ++at) write_tracks(at);
    source_.tell(*this);
    for (Thread& thread : threads_) close(thread, 0);
    flush();
    return info_;
  }

  void read(const SourceSlice& slice) override {
    Thread& thread = thread_of(slice);
    close(thread, slice.depth);
    const Arrow arrow = slice.arrow;
    begin_event(event::kBegin, track_of(slice.process, slice.thread));
    if (slice.name.empty()) {
      event_.integer(event::kName, slice.label->number + 1);
    } else {
      event_.text(event::kOwnName, slice.name);
    }
    event_.integer(event::kCategory, category_ids_[slice.label->number]);
    for (const TraceArgument& argument : slice.arguments) annotate(argument);
    if (arrow.sends) event_.fixed(event::kFlow, arrow.id);
    write_event(slice.span.start);
    ++info_.spans;
    if (arrow.sends) ++info_.flows;
    thread.track = track_of(slice.process, slice.thread);
    thread.open.push_back({slice.depth, slice.span.finish, arrow.sends ? 0 : arrow.id});
  }

  void read(std::uint32_t process, const TraceCounter& counter, Nanoseconds time,
            std::span<const std::int64_t> values) override {
    for (std::size_t s = 0; s < values.size(); ++s) {
      begin_event(event::kCounter, series_track_of(process, counter.series[s]));
      event_.signed_integer(event::kCounterValue, values[s]);
      write_event(time);
    }
  }

 private:
  struct Open {
    std::uint32_t depth;
    Nanoseconds finish;
    std::uint64_t last_flow;  ///< 0: none
  };
  /// Holds the open slices of a thread, outer ones first.
  struct Thread {
    std::uint64_t track = 0;
    std::vector<Open> open;
  };

  Thread& thread_of(const SourceSlice& slice) {
    return threads_[places_.at(slice.process) * threads_per_process_ + slice.thread];
  }

  [[nodiscard]] std::uint64_t process_track_of(std::uint32_t process) const {
    return std::uint64_t{process} * tracks_per_process_ + 1;
  }
  [[nodiscard]] std::uint64_t track_of(std::uint32_t process, std::uint32_t thread) const {
    return process_track_of(process) + 1 + thread;
  }
  [[nodiscard]] std::uint64_t series_track_of(std::uint32_t process, const CounterSeries& series) const {
    return track_of(process, threads_per_process_ + series.place);
  }

  /// Closes the slices of a depth and those inside them.
  void close(Thread& thread, std::uint32_t depth) {
    while (!thread.open.empty() && thread.open.back().depth >= depth) {
      const Open& open = thread.open.back();
      begin_event(event::kEnd, thread.track);
      if (open.last_flow != 0) event_.fixed(event::kLastFlow, open.last_flow);
      write_event(open.finish);
      thread.open.pop_back();
    }
  }

  void begin_event(std::uint64_t type, std::uint64_t track) {
    event_.clear();
    event_.integer(event::kType, type);
    event_.integer(event::kTrack, track);
  }
  void annotate(const TraceArgument& argument) {
    part_.clear();
    part_.integer(event::kAnnotationName, std::uint64_t{argument.name} + 1);
    part_.signed_integer(event::kInteger, argument.value);
    event_.message(event::kAnnotation, part_);
  }
  void write_event(Nanoseconds time) {
    packet_.integer(packet::kTimestamp, static_cast<std::uint64_t>(time));
    packet_.message(packet::kTrackEvent, event_);
    write_packet(packet::kNeedsState);
  }

  /// Writes the contents of `packet_` with its sequence.
  void write_packet(std::uint64_t flags) {
    packet_.integer(packet::kSequence, 1);
    if (flags != 0) packet_.integer(packet::kSequenceFlags, flags);
    length_.clear();
    length_.message(kPacket, packet_);
    block_ += length_.bytes();
    packet_.clear();
    if (block_.size() >= kBlock) flush();
  }
  void flush() {
    sink_(block_);
    block_.clear();
  }

  void intern(std::uint32_t field, std::uint64_t id, std::string_view name) {
    part_.clear();
    part_.integer(interned::kId, id);
    part_.text(interned::kName, name);
    event_.message(field, part_);
  }
  void write_interned() {
    event_.clear();
    std::vector<std::string_view> categories;
    for (const TraceLabel* label : source_.labels()) {
      auto known = std::ranges::find(categories, label->category);
      const auto id = static_cast<std::uint64_t>(known - categories.begin()) + 1;
      if (known == categories.end()) {
        categories.push_back(label->category);
        intern(interned::kCategories, id, label->category);
      }
      category_ids_.push_back(id);
      intern(interned::kEventNames, label->number + 1, label->name);
    }
    const std::span<const std::string_view> arguments = source_.argument_names();
    for (std::size_t a = 0; a < arguments.size(); ++a)
      intern(interned::kAnnotationNames, a + 1, arguments[a]);
    packet_.message(packet::kInterned, event_);
    write_packet(packet::kStateCleared);
  }

  void write_metadata(std::string_view json) {
    part_.clear();
    part_.text(chrome_events::kName, "orrery");
    part_.text(chrome_events::kString, json);
    event_.clear();
    event_.message(chrome_events::kMetadata, part_);
    packet_.message(packet::kChromeEvents, event_);
    write_packet(0);
  }

  /// The track of no process, which says how processes are ordered.
  void write_root() {
    event_.clear();
    event_.integer(track::kUuid, 0);
    event_.integer(track::kProcessOrdering, track::kProcessesByRank);
    packet_.message(packet::kTrackDescriptor, event_);
    write_packet(0);
  }

  void write_tracks(std::size_t at) {
    const TraceProcess process = source_.process(at);
    places_.emplace(process.number, at);
    threads_.resize((at + 1) * threads_per_process_);
    write_process(process);
    for (const TraceThread& thread : process.threads) {
      begin_track(process.number, track_of(process.number, thread.number), thread.name, thread.number);
      write_track();
    }
    for (const TraceCounter& counter : source_.counters(at))
      for (const CounterSeries& series : counter.series) write_series(process.number, counter, series);
  }
  void write_process(const TraceProcess& process) {
    event_.clear();
    event_.integer(track::kUuid, process_track_of(process.number));
    part_.clear();
    part_.signed_integer(track::kPid, process.number + first_process(source_.used_threads()));
    part_.text(track::kProcessName, process.name);
    event_.message(track::kProcess, part_);
    event_.integer(track::kChildOrdering, track::kByRank);
    event_.integer(track::kSiblingRank, process.number);
    write_track();
  }
  void write_series(std::uint32_t process, const TraceCounter& counter, const CounterSeries& series) {
    begin_track(process, series_track_of(process, series), series.track, threads_per_process_ + series.place);
    part_.clear();
    if (counter.is_bytes) {
      part_.integer(track::kUnit, track::kBytes);
    } else {
      part_.text(track::kUnitName, counter.unit);
    }
    event_.message(track::kCounter, part_);
    write_track();
  }
  void begin_track(std::uint32_t process, std::uint64_t uuid, std::string_view name, std::uint64_t place) {
    event_.clear();
    event_.integer(track::kUuid, uuid);
    event_.text(track::kName, name);
    event_.integer(track::kParent, process_track_of(process));
    event_.integer(track::kSiblingRank, place);
  }
  void write_track() {
    packet_.message(packet::kTrackDescriptor, event_);
    write_packet(0);
  }

  TraceSource& source_;
  const Sink& sink_;
  std::uint32_t threads_per_process_;
  std::uint64_t tracks_per_process_;
  std::vector<std::uint64_t> category_ids_;                ///< by TraceLabel::number
  std::unordered_map<std::uint32_t, std::size_t> places_;  ///< of processes in the source, by number
  std::vector<Thread> threads_;                            ///< [place of the process][thread]
  TraceInfo info_;
  ProtoMessage packet_, event_, part_, length_;
  std::string block_;
};

}  // namespace

TraceInfo write_perfetto_trace(TraceSource& source, std::string_view metadata_json, const Sink& sink) {
  return PerfettoWriter(source, sink).write(metadata_json);
}

}  // namespace orrery
