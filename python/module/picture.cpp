// Pictures of a run: SVG, or PNG by the name of the file.
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
#include "python/module/errors.hpp"
#include "python/module/result.hpp"
#include "reports/picture/png.hpp"

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
  const bool png = has_ending(path.native(), ".png");
  if (png) require_png_writer();
  const std::string svg = svg_of(result, options);
  write_file(path.string(), [&](const Sink& sink) { png ? write_png(svg, sink) : sink(svg); });
}

constexpr const char* kWriteHelp =
    R"(Draws the schedule of the run into a file: SVG, or PNG where the name ends in .png.

It shows one GPU of each pipeline stage, as `orrery simulate --svg`. The experiment is simulated once more.

path          of the file, which appears whole or not at all
stages        pipeline stages to draw, from 0; None: all, of more than 64 so many that lie evenly
from_s, to_s  seconds of the run between which it is drawn; None: its end
width         pixels, 400 to 20000
memory        also draw what each GPU holds over time)";

}  // namespace

void bind_picture(py::class_<Result, std::shared_ptr<Result>>& result) {
  result.def("write_svg", &write_svg, py::arg("path"), py::kw_only(), py::arg("stages") = py::none(),
             py::arg("from_s") = 0.0, py::arg("to_s") = py::none(), py::arg("width") = PictureOptions{}.width,
             py::arg("memory") = false, kWriteHelp);
}

}  // namespace orrery::python
