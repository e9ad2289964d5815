// The chart of a comparison: a figure along a varied key, or where the time of each row goes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "orrery/printable.hpp"
#include "reports/activity.hpp"
#include "reports/chart/key_label.hpp"
#include "reports/chart/scene_axes.hpp"
#include "reports/text/column_table.hpp"
#include "studies/compare/writers.hpp"

namespace orrery {
namespace {

std::string gpus_text(const Comparison& comparison) {
  std::vector<std::int64_t> gpus;
  for (const ComparedRow& row : comparison.rows)
    if (row.report) gpus.push_back(row.report->gpus);
  if (gpus.empty()) return "";
  const auto [least, most] = std::ranges::minmax(gpus);
  return least == most ? fmt::format(" {} GPUs.", most) : fmt::format(" {} to {} GPUs.", least, most);
}

std::string conditions_of(const Comparison& comparison) {
  const auto fit = static_cast<std::size_t>(std::ranges::count_if(comparison.rows, &ComparedRow::feasible));
  const std::string rows = fit == comparison.rows.size()
                               ? fmt::format("Simulated, {} rows.", fit)
                               : fmt::format("Simulated, {} of {} rows: the others are not feasible.", fit,
                                             comparison.rows.size());
  return rows + gpus_text(comparison);
}

std::string title_of(const Comparison& comparison) {
  const std::string name = comparison.rows.empty() ? "" : printable(comparison.rows.front().name);
  return comparison.several ? "Experiments compared" : name;
}

ChartScene lines_scene(const Comparison& comparison, const ChartLines& chart) {
  std::vector<double> xs;
  std::vector<double> ys;
  for (const ChartLine& line : chart.lines) {
    for (const auto& [x, y] : line.points) {
      xs.push_back(x);
      ys.push_back(y);
    }
  }
  ChartScene scene{title_of(comparison), conditions_of(comparison), axis_along(key_label(chart.x), xs),
                   axis_of_figure(key_label(chart.y), ys, true)};
  for (const ChartLine& line : chart.lines)
    if (!line.points.empty()) scene.series.push_back({line.name, SeriesMark::line_with_points, line.points});
  return scene;
}

std::string row_name(const Comparison& comparison, const ComparedRow& row) {
  std::string name = comparison.several || comparison.keys.empty() ? printable(row.name) : "";
  const std::vector<std::string> names = short_names(comparison.keys);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!row.varied[i].empty())
      name += (name.empty() ? "" : ", ") + names[i] + " " + printable(row.varied[i]);
  return name;
}

/// A part of the step's time, in picoseconds summed over GPUs.
struct TimePart {
  std::string name;
  Int128 (*of)(const Breakdown&);
};

template <Dimension dimension>
Int128 exposed_of(const Breakdown& time) {
  return time.exposed_ps[static_cast<std::size_t>(dimension)];
}

const std::array<TimePart, 10>& time_parts() {
  static const std::array<TimePart, 10> parts{
      {{"compute", [](const Breakdown& time) { return time.compute_ps; }},
       {"exposed: tensor", exposed_of<Dimension::tensor>},
       {"between stages", exposed_of<Dimension::pipeline>},
       {"gradients and parameters", exposed_of<Dimension::data>},
       {"context", exposed_of<Dimension::context>},
       {"experts", exposed_of<Dimension::expert>},
       {"offload", exposed_of<Dimension::offload>},
       {"optimizer", [](const Breakdown& time) { return time.optimizer_ps; }},
       {"bubble", [](const Breakdown& time) { return time.bubble_ps; }},
       {"host", [](const Breakdown& time) { return time.host_ps; }}}};
  return parts;
}

double part_s(const Report& report, const TimePart& part) {
  const double total = static_cast<double>(part.of(report.breakdown));
  return total * 1e-12 / static_cast<double>(report.gpus) / static_cast<double>(report.steps);
}

/// A part has a series where it is seen: a thousandth of the longest step at least.
ChartScene parts_scene(const Comparison& comparison) {
  ChartScene scene{title_of(comparison), conditions_of(comparison), {"step time, mean over GPUs (s)"}, {}};
  scene.x.from_zero = true;
  scene.y.scale = AxisScale::names;
  double longest = 0;
  for (const ComparedRow& row : comparison.rows) {
    scene.y.names.push_back(row_name(comparison, row));
    if (row.feasible()) longest = std::max(longest, row.report->step_time_s());
  }
  for (const TimePart& part : time_parts()) {
    SceneSeries series{part.name, SeriesMark::bars, {}};
    bool seen = false;
    for (std::size_t i = 0; i < comparison.rows.size(); ++i) {
      if (!comparison.rows[i].feasible()) continue;
      const double seconds = part_s(*comparison.rows[i].report, part);
      seen = seen || seconds > longest / 1000;
      series.points.emplace_back(seconds, static_cast<double>(i));
    }
    if (seen) scene.series.push_back(std::move(series));
  }
  return scene;
}

/// Rows that serve have no step; their figure is what a GPU makes.
ChartScene served_scene(const Comparison& comparison) {
  ChartScene scene{title_of(comparison), conditions_of(comparison), {key_label("tokens_per_s_per_gpu")}, {}};
  scene.x.from_zero = true;
  scene.y.scale = AxisScale::names;
  SceneSeries series{"", SeriesMark::bars, {}};
  for (std::size_t i = 0; i < comparison.rows.size(); ++i) {
    const ComparedRow& row = comparison.rows[i];
    scene.y.names.push_back(row_name(comparison, row));
    if (row.feasible() && row.is_timed())
      series.points.emplace_back(row.report->tokens_per_s() / static_cast<double>(row.report->gpus),
                                 static_cast<double>(i));
  }
  scene.series.push_back(std::move(series));
  return scene;
}

}  // namespace

ChartScene comparison_scene(const Comparison& comparison, const std::optional<ChartLines>& lines) {
  if (lines) return lines_scene(comparison, *lines);
  return comparison.serves() ? served_scene(comparison) : parts_scene(comparison);
}

}  // namespace orrery
