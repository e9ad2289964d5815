// One trace in Chrome's event format of a measured and a simulated run: a process for each rank and side,
// each from the beginning of its step.
#include <fmt/format.h>

#include <algorithm>

#include "reports/text/json_text.hpp"
#include "studies/explain/writers.hpp"

namespace orrery {
namespace {

class BothTraces {
 public:
  explicit BothTraces(const Sink& sink) : sink_(sink) {
    sink_("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [");
  }

  /// @param clock_ahead_ns  of the rank, so that measured ranks keep their order in time
  void add(const Profile& profile, std::string_view side, std::int64_t begin_ns) {
    ++process_;
    event(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"rank {}, {}"}}}})",
                      process_, profile.rank, side));
    event(fmt::format(R"({{"ph":"M","name":"process_sort_index","pid":{},"args":{{"sort_index":{}}}}})",
                      process_, process_));
    for (const GpuSpan& span : profile.spans) {
      if (span.start_ns < begin_ns) continue;
      std::string name;
      append_json(profile.names[span.name], name);
      event(fmt::format(R"({{"ph":"X","name":{},"cat":"{}","pid":{},"tid":{},"ts":{}.{:03},"dur":{}.{:03}}})",
                        name, span.use == KernelUse::communication ? "communication" : "kernel", process_,
                        span.stream, (span.start_ns - begin_ns) / 1000, (span.start_ns - begin_ns) % 1000,
                        (span.finish_ns - span.start_ns) / 1000, (span.finish_ns - span.start_ns) % 1000));
    }
  }
  void finish() { sink_("\n]}\n"); }

 private:
  void event(const std::string& text) {
    sink_(first_ ? "\n" : ",\n");
    first_ = false;
    sink_(text);
  }

  const Sink& sink_;
  std::int64_t process_ = 0;
  bool first_ = true;
};

}  // namespace

void write_both_traces(const std::vector<Profile>& measured, const ExplainedTimelines& timelines,
                       const Sink& sink) {
  BothTraces out(sink);
  for (std::size_t p = 0; p < measured.size(); ++p) {
    out.add(measured[p], "measured", timelines.begin_ns + timelines.clock_ahead_ns[p]);
    if (p < timelines.simulated.size()) out.add(timelines.simulated[p], "simulated", 0);
  }
  out.finish();
}

}  // namespace orrery
