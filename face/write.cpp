#include "orrery/write.hpp"

#include "config/text/output_file.hpp"
#include "config/text/output_folder.hpp"
#include "face/recorded_state.hpp"
#include "orrery/require_training.hpp"
#include "reports/page/run_page.hpp"
#include "reports/page/serving_page.hpp"
#include "reports/picture/picture.hpp"
#include "reports/picture/serving_picture.hpp"
#include "reports/writers.hpp"

namespace orrery {
namespace {

using FolderWriter = TraceInfo (*)(const RunView&, const RankGrid&, const TraceOptions&, const FileMaker&);

/// A folder with a file for each rank, whole or not at all.
TraceInfo write_folder(const RecordedRun& run, const TraceOptions& options, const std::string& folder,
                       FolderWriter writer) {
  require_training(run.experiment(), "kernels one by one");
  OutputFolder output(folder);
  const TraceInfo info = writer(run.state().step->view, run.state().step->grid, options,
                                [&](const std::string& name, const std::function<void(const Sink&)>& write) {
                                  write_file(output.file(name), write);
                                });
  output.put_in_place();
  return info;
}

}  // namespace

void write_json(const Report& report, const Sink& sink) { write_json(report, {}, 2, sink); }

void write_csv(const Report& report, const Sink& sink) { write_csv(report, {}, sink); }

TraceInfo write_trace(const RecordedRun& run, const TraceOptions& options, const Sink& sink) {
  require_something_to_draw(run.experiment(), run.report());
  if (run.requests() != nullptr) return write_serving_trace(*run.requests(), options, sink);
  return write_trace(run.state().step->view, run.state().step->grid, options, sink);
}

void write_picture(const RecordedRun& run, const PictureOptions& options, const Sink& sink) {
  require_something_to_draw(run.experiment(), run.report());
  if (run.requests() != nullptr) return write_serving_picture(*run.requests(), run.report(), options, sink);
  write_picture(run.state().step->view, run.state().step->grid, run.report(), options, sink);
}

TraceInfo write_kineto(const RecordedRun& run, const TraceOptions& options, const std::string& folder) {
  return write_folder(run, options, folder, &write_kineto);
}

TraceInfo write_chakra(const RecordedRun& run, const TraceOptions& options, const std::string& folder) {
  return write_folder(run, options, folder, &write_chakra);
}

void write_page(const RecordedRun& run, const Sink& sink) {
  if (run.requests() != nullptr) return write_serving_page({run.report(), "", *run.requests()}, sink);
  write_run_page({run.report(), "", &run.state().step->view, &run.state().step->grid}, sink);
}

void write_file(const std::string& path, const std::function<void(const Sink&)>& write) {
  OutputFile file(path);
  write([&file](std::string_view text) { file.write(text); });
  file.commit();
}

}  // namespace orrery
