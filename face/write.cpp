#include "orrery/write.hpp"

#include "config/text/output_file.hpp"
#include "face/recorded_state.hpp"
#include "reports/writers.hpp"

namespace orrery {

void write_json(const Report& report, const Sink& sink) { write_json(report, {}, 2, sink); }

void write_csv(const Report& report, const Sink& sink) { write_csv(report, {}, sink); }

TraceInfo write_trace(const RecordedRun& run, const TraceOptions& options, const Sink& sink) {
  return write_trace(run.state().view, run.state().grid, options, sink);
}

void write_file(const std::string& path, const std::function<void(const Sink&)>& write) {
  OutputFile file(path);
  write([&file](std::string_view text) { file.write(text); });
  file.commit();
}

}  // namespace orrery
