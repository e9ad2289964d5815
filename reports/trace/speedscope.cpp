// speedscope's own format (https://www.speedscope.app/file-format-schema.json): an evented profile per thread
// of a process. Slices of one name are one frame, so that it sums them up and gives them one colour; of a
// Chrome trace it takes name and arguments together for the frame. Every profile begins and ends with the
// run: its blanks are waiting. Times are integers, in ns.
#include "reports/trace/speedscope.hpp"

#include <algorithm>
#include <vector>

#include "reports/trace/text_buffer.hpp"

namespace orrery {
namespace {

class SpeedscopeWriter final : public TraceReader {
 public:
  SpeedscopeWriter(TraceSource& source, const Sink& sink) : source_(source), out_(sink) {
    info_.ranks = source.processes();
  }

  TraceInfo write(std::string_view metadata_json) {
    out_.make_room();
    out_.text(
        R"({"$schema":"https://www.speedscope.app/file-format-schema.json","exporter":"orrery","metadata":)");
    out_.long_text(metadata_json);
    write_frames();
    out_.text(",\"profiles\":[");
    bool first = true;
    for (std::size_t at = 0; at < source_.processes(); ++at) {
      const TraceProcess process = source_.process(at);
      for (const TraceThread& thread : process.threads) {
        out_.make_room();
        out_.text(first ? "\n" : ",\n");
        first = false;
        write_profile(process, thread);
      }
    }
    out_.text("\n]}\n");
    out_.flush();
    return info_;
  }

  void read(const SourceSlice& slice) override {
    close(slice.depth);
    const std::uint32_t frame = frames_[slice.label->number];
    write_event('O', frame, slice.span.start);
    open_.push_back({slice.depth, slice.span.finish, frame});
    ++info_.spans;
  }
  /// Counters have no place in profiles.
  void read(std::uint32_t, const TraceCounter&, Nanoseconds, std::span<const std::int64_t>) override {}

 private:
  struct Open {
    std::uint32_t depth;
    Nanoseconds finish;
    std::uint32_t frame;
  };

  /// Each name once, whatever its category.
  void write_frames() {
    std::vector<std::string_view> names;
    out_.make_room();
    out_.text(",\"shared\":{\"frames\":[");
    for (const TraceLabel* label : source_.labels()) {
      const auto known = std::ranges::find(names, label->name);
      frames_.push_back(static_cast<std::uint32_t>(known - names.begin()));
      if (known != names.end()) continue;
      out_.make_room();
      out_.text(names.empty() ? R"({"name":")" : R"(,{"name":")");
      out_.text(label->name);
      out_.text("\"}");
      names.push_back(label->name);
    }
    out_.make_room();
    out_.text("]}");
  }

  void write_profile(const TraceProcess& process, const TraceThread& thread) {
    out_.text(R"({"type":"evented","name":")");
    out_.text(process.name);
    out_.text(": ");
    out_.text(thread.name);
    out_.text(R"(","unit":"nanoseconds","startValue":0,"endValue":)");
    out_.integer(source_.end());
    out_.text(",\"events\":[");
    first_ = true;
    source_.tell_thread(process.number, thread.number, *this);
    close(0);
    out_.make_room();
    out_.text("]}");
  }

  /// Closes the slices of a depth and those inside them.
  void close(std::uint32_t depth) {
    for (; !open_.empty() && open_.back().depth >= depth; open_.pop_back())
      write_event('C', open_.back().frame, open_.back().finish);
  }

  void write_event(char type, std::uint32_t frame, Nanoseconds at) {
    out_.make_room();
    out_.text(first_ ? R"({"type":")" : R"(,{"type":")");
    first_ = false;
    out_.text({&type, 1});
    out_.text(R"(","frame":)");
    out_.integer(frame);
    out_.text(",\"at\":");
    out_.integer(at);
    out_.text("}");
  }

  TraceSource& source_;
  TextBuffer out_;
  std::vector<std::uint32_t> frames_;  ///< by TraceLabel::number
  std::vector<Open> open_;             ///< of the current profile, outer ones first
  TraceInfo info_;
  bool first_ = true;
};

}  // namespace

TraceInfo write_speedscope(TraceSource& source, std::string_view metadata_json, const Sink& sink) {
  return SpeedscopeWriter(source, sink).write(metadata_json);
}

}  // namespace orrery
