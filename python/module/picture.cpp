// Pictures, traces and pages of a run, of training or of requests that are served, into files.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "orrery/error.hpp"
#include "orrery/file_ending.hpp"
#include "orrery/recorded_run.hpp"
#include "orrery/write.hpp"
#include "python/module/errors.hpp"
#include "python/module/result.hpp"
#include "reports/picture/rendering.hpp"

namespace orrery::python {
namespace {

constexpr double kMostSeconds = 9e6;  // of 64-bit picoseconds

Picoseconds picoseconds_of(double seconds, const char* argument) {
  if (!(seconds >= 0 && seconds <= kMostSeconds))
    throw InputError({Diagnostic{argument, 0, 0, "",
                                 "found " + std::to_string(seconds) + ", allowed are seconds from 0 on"}});
  return static_cast<Picoseconds>(std::llround(seconds * 1e12));
}

std::string svg_of(const Result& result, const PictureOptions& options) {
  InputSeries series(result.setting());
  return series.apply(result.given(), [&](const Experiment& experiment, const ExperimentPositions&) {
    std::string svg;
    write_picture(record(experiment), options, [&svg](std::string_view text) { svg += text; });
    return svg;
  });
}

void write_svg(const Result& result, const std::filesystem::path& path,
               const std::optional<std::vector<std::uint32_t>>& stages, double from_s,
               std::optional<double> to_s, int width, bool memory) {
  PictureOptions options;
  options.stages = stages.value_or(std::vector<std::uint32_t>{});
  options.from_ps = picoseconds_of(from_s, "from_s");
  if (to_s) options.to_ps = std::max<Picoseconds>(1, picoseconds_of(*to_s, "to_s"));
  options.width = width;
  options.memory = memory;
  const py::gil_scoped_release released;
  const std::optional<RenderedFormat> rendered = rendered_format_of(path.native());
  if (rendered) require_renderer(*rendered);
  const std::string svg = svg_of(result, options);
  write_file(path.string(),
             [&](const Sink& sink) { rendered ? write_rendered(*rendered, svg, sink) : sink(svg); });
}

/// Simulates the experiment of a result once more, and gives its run to `write`.
template <class Write>
void write_run(const Result& result, const std::filesystem::path& path, const Write& write) {
  const py::gil_scoped_release released;
  InputSeries series(result.setting());
  series.apply(result.given(), [&](const Experiment& experiment, const ExperimentPositions&) {
    const RecordedRun run = record(experiment);
    write_file(path.string(), [&](const Sink& sink) { write(run, sink); });
    return 0;
  });
}

void write_trace_file(const Result& result, const std::filesystem::path& path) {
  TraceOptions options;
  options.format = trace_format(path.native());
  write_run(result, path, [&](const RecordedRun& run, const Sink& sink) { write_trace(run, options, sink); });
}

/// Simulates the experiment of a result once more, and writes a folder with a file for each rank.
template <TraceInfo (*Write)(const RecordedRun&, const TraceOptions&, const std::string&)>
void write_rank_files(const Result& result, const std::filesystem::path& folder,
                      const std::optional<std::vector<std::uint32_t>>& ranks) {
  TraceOptions options;
  options.ranks = ranks.value_or(std::vector<std::uint32_t>{});
  const py::gil_scoped_release released;
  InputSeries series(result.setting());
  series.apply(result.given(), [&](const Experiment& experiment, const ExperimentPositions&) {
    Write(record(experiment), options, folder.string());
    return 0;
  });
}

void write_page_file(const Result& result, const std::filesystem::path& path) {
  write_run(result, path, [](const RecordedRun& run, const Sink& sink) { write_page(run, sink); });
}

constexpr const char* kTraceHelp =
    R"(Writes a trace of the run for https://ui.perfetto.dev, as `orrery simulate --trace`: of steps, or of requests.

Chrome's JSON; speedscope's where the name ends in .speedscope.json, Perfetto's own form in .pftrace; compressed where
.gz follows. The file appears whole or not at all. The experiment is simulated once more.)";

constexpr const char* kKinetoHelp =
    R"(Writes a folder with a file for each rank as PyTorch's profiler does, as `orrery simulate --kineto`.

folder  must not be there, unless it is empty; it appears whole or not at all
ranks   to write; None: one of each kind, or all of a small run)";

constexpr const char* kChakraHelp =
    R"(Writes a folder with an execution trace of MLCommons Chakra for each rank, as `orrery simulate --chakra`.

ASTRA-sim reads chakra.0.et and so on, with the communicators in comm_groups.json.

folder  must not be there, unless it is empty; it appears whole or not at all
ranks   to write; None: all of them)";

constexpr const char* kPageHelp =
    R"(Writes a page that shows the run in any browser, as `orrery simulate --html`: of steps, or of requests.

The file appears whole or not at all. The experiment is simulated once more.)";

constexpr const char* kWriteHelp =
    R"(Draws the schedule of the run into a file: SVG, or PNG or PDF where the name ends so.

It shows one GPU of each pipeline stage, as `orrery simulate --svg`. The experiment is simulated once more.

path          of the file, which appears whole or not at all
stages        pipeline stages to draw, from 0; None: all, of more than 64 so many that lie evenly
from_s, to_s  seconds of the run between which it is drawn; None: its end
width         pixels, 300 to 20000
memory        also draw what each GPU holds over time)";

}  // namespace

void bind_picture(py::class_<Result, std::shared_ptr<Result>>& result) {
  result.def("write_svg", &write_svg, py::arg("path"), py::kw_only(), py::arg("stages") = py::none(),
             py::arg("from_s") = 0.0, py::arg("to_s") = py::none(), py::arg("width") = PictureOptions{}.width,
             py::arg("memory") = false, kWriteHelp);
  result.def("write_trace", &write_trace_file, py::arg("path"), kTraceHelp);
  result.def("write_kineto", &write_rank_files<&write_kineto>, py::arg("folder"), py::kw_only(),
             py::arg("ranks") = py::none(), kKinetoHelp);
  result.def("write_chakra", &write_rank_files<&write_chakra>, py::arg("folder"), py::kw_only(),
             py::arg("ranks") = py::none(), kChakraHelp);
  result.def("write_page", &write_page_file, py::arg("path"), kPageHelp);
}

}  // namespace orrery::python
