#include "apps/converge_output.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "apps/terminal_chart.hpp"
#include "reports/page/page.hpp"

namespace orrery {
namespace {

using OrderedJson = nlohmann::ordered_json;

struct TimeUnit {
  const char* name;
  double seconds;
};

TimeUnit unit_for(double seconds) {
  if (seconds >= 2 * 3600) return {"h", 3600};
  if (seconds >= 120) return {"min", 60};
  return seconds >= 0.1 ? TimeUnit{"s", 1} : TimeUnit{"ms", 1e-3};
}

double longest_s(const std::vector<ConvergenceCurve>& runs) {
  double longest = 0;
  for (const ConvergenceCurve& run : runs) longest = std::max(longest, run.time_s(run.run.points.back()));
  return longest;
}

std::string method_of(const ConvergenceCurve& run) {
  return std::string(kSyncMethodNames[static_cast<std::size_t>(run.experiment.data_parallel_sync.method)]);
}

std::string topology_of(const ConvergenceCurve& run) {
  const DataParallelSync& sync = run.experiment.data_parallel_sync;
  return sync.gossips() ? sync.topology : "";
}

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/// Returns as many digits as are needed to read the same number; "" for infinity and NaN.
std::string exact(double value) { return std::isfinite(value) ? OrderedJson(value).dump() : ""; }

const ConvergencePoint* first_within(const ConvergenceCurve& run, std::optional<double> target) {
  if (!target) return nullptr;
  const auto& points = run.run.points;
  const auto found = std::find_if(points.begin(), points.end(),
                                  [&](const ConvergencePoint& point) { return point.loss <= *target; });
  return found == points.end() ? nullptr : &*found;
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

/// Columns as wide as their widest cell, two apart.
std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - row[i].size(), ' ');
      out += (i == 0 ? row[i] + space : "  " + space + row[i]);
    }
    out += "\n";
  }
  return out;
}

/// Returns the table without its least important columns if they have no room, and names these.
std::string fitted(std::vector<std::vector<std::string>> rows, std::size_t columns) {
  std::string hidden;
  for (const char* least : {"consensus error", "iterations", "workers", "above least", "step [ms]"}) {
    const std::string text = aligned(rows);
    if (text.find('\n') <= columns) break;
    const auto column = std::ranges::find(rows.front(), least) - rows.front().begin();
    for (auto& row : rows) row.erase(row.begin() + column);
    hidden += (hidden.empty() ? "" : ", ") + std::string(least);
  }
  return aligned(rows) + (hidden.empty() ? "" : "no room for: " + hidden + " (--csv has all)\n");
}

OrderedJson json_of(const ConvergencePoint& point, const ConvergenceCurve& run) {
  return {{"iteration", point.iteration},
          {"time_s", run.time_s(point)},
          {"loss", point.loss},
          {"gradient_norm", point.gradient_norm},
          {"consensus_error", point.consensus_error}};
}

OrderedJson json_of(const ConvergenceCurve& run, std::optional<double> target) {
  OrderedJson out{{"name", run.label},
                  {"method", method_of(run)},
                  {"topology", run.experiment.data_parallel_sync.gossips() ? OrderedJson(topology_of(run))
                                                                           : OrderedJson()},
                  {"workers", run.run.workers},
                  {"parameters", run.run.parameters},
                  {"step_time_s", run.step_time_s},
                  {"feasible", run.feasible},
                  {"diverged", run.run.diverged},
                  {"least_loss", run.run.least_loss ? OrderedJson(*run.run.least_loss) : OrderedJson()}};
  if (target) {
    const ConvergencePoint* reached = first_within(run, target);
    out["target"] = *target;
    out["time_to_target_s"] = reached == nullptr ? OrderedJson() : OrderedJson(run.time_s(*reached));
  }
  out["points"] = OrderedJson::array();
  for (const ConvergencePoint& point : run.run.points) out["points"].push_back(json_of(point, run));
  return out;
}

std::string json_text(const std::vector<ConvergenceCurve>& runs, std::optional<double> target, int indent) {
  OrderedJson all{{"runs", OrderedJson::array()}};
  for (const ConvergenceCurve& run : runs) all["runs"].push_back(json_of(run, target));
  return all.dump(indent, ' ', false, OrderedJson::error_handler_t::replace);
}

struct ConvergenceAxes {
  std::string x, y;
  TimeUnit unit;
  bool above_least = false;
};

ConvergenceAxes axes_of(const std::vector<ConvergenceCurve>& runs, const ConvergeChart& wanted) {
  const bool above_least = std::all_of(
      runs.begin(), runs.end(), [](const ConvergenceCurve& run) { return run.run.least_loss.has_value(); });
  const TimeUnit unit = unit_for(longest_s(runs));
  return {wanted.by_iteration ? "iterations" : std::string("simulated time [") + unit.name + "]",
          wanted.consensus ? "consensus error: mean of ||x_i - mean||^2"
          : above_least    ? "loss of the mean model, above the least possible"
                           : "loss of the mean model",
          unit, above_least};
}

std::vector<std::pair<double, double>> points_of(const ConvergenceCurve& run, const ConvergenceAxes& axes,
                                                 const ConvergeChart& wanted) {
  std::vector<std::pair<double, double>> points;
  for (const ConvergencePoint& point : run.run.points) {
    const double x =
        wanted.by_iteration ? static_cast<double>(point.iteration) : run.time_s(point) / axes.unit.seconds;
    const double loss = axes.above_least ? point.loss - *run.run.least_loss : point.loss;
    points.emplace_back(x, wanted.consensus ? point.consensus_error : loss);
  }
  return points;
}

/// Differences of doubles below this share of the largest say nothing.
constexpr double kRoundingShare = 1e-15;

std::vector<std::pair<double, double>> without_rounding(std::vector<std::pair<double, double>> points) {
  double largest = 0;
  for (const auto& [x, y] : points)
    if (std::isfinite(y)) largest = std::max(largest, y);
  std::erase_if(points, [&](const auto& point) { return !(point.second > kRoundingShare * largest); });
  return points;
}

}  // namespace

std::string convergence_chart(const std::vector<ConvergenceCurve>& runs, const ConvergeChart& wanted) {
  const ConvergenceAxes axes = axes_of(runs, wanted);
  Chart chart;
  chart.y_label = axes.y;
  chart.x_label = axes.x;
  chart.log_x = wanted.log_x;
  chart.log_y = true;
  chart.width = wanted.width;
  chart.height = wanted.height;
  for (const ConvergenceCurve& run : runs) chart.series.push_back({run.label, points_of(run, axes, wanted)});
  return draw_chart(chart);
}

ChartScene convergence_scene(const std::vector<ConvergenceCurve>& runs, const ConvergeChart& wanted,
                             std::optional<double> target) {
  const ConvergenceAxes axes = axes_of(runs, wanted);
  ChartScene scene{"Convergence of " + runs.front().experiment.name, "", {axes.x}, {axes.y}};
  if (wanted.log_x) scene.x.scale = AxisScale::logarithmic;
  scene.y.scale = AxisScale::logarithmic;
  std::size_t least_workers = runs.front().run.workers;
  std::size_t most_workers = least_workers;
  for (const ConvergenceCurve& run : runs) {
    scene.series.push_back({run.label, SeriesMark::line, without_rounding(points_of(run, axes, wanted))});
    least_workers = std::min<std::size_t>(least_workers, run.run.workers);
    most_workers = std::max<std::size_t>(most_workers, run.run.workers);
  }
  if (target && !wanted.consensus) {
    const double least = axes.above_least ? *runs.front().run.least_loss : 0;
    scene.rules.push_back({RuleKind::horizontal, *target - least, "target, a loss of " + number(*target)});
  }
  scene.caption = least_workers == most_workers
                      ? std::to_string(most_workers) + " workers"
                      : std::to_string(least_workers) + " to " + std::to_string(most_workers) + " workers";
  scene.caption += wanted.by_iteration ? "; one run each, with the experiment's seed."
                                       : "; one run each, with the experiment's seed; steps as simulated.";
  for (const SceneRule& rule : scene.rules)
    if (!(rule.at > 0)) scene.caption += " The target is not above the least possible loss.";
  return scene;
}

std::string convergence_table(const std::vector<ConvergenceCurve>& runs, std::optional<double> target,
                              int columns) {
  const TimeUnit unit = unit_for(longest_s(runs));
  std::vector<std::vector<std::string>> rows{{"run", "workers", "iterations", "step [ms]",
                                              std::string("time [") + unit.name + "]", "loss", "above least",
                                              "consensus error"}};
  if (target) rows.front().push_back(std::string("loss ") + number(*target) + " at [" + unit.name + "]");
  for (const ConvergenceCurve& run : runs) {
    const ConvergencePoint& last = run.run.points.back();
    rows.push_back({run.label, std::to_string(run.run.workers), std::to_string(last.iteration),
                    number(run.step_time_s * 1e3), number(run.time_s(last) / unit.seconds),
                    run.run.diverged ? "diverged" : number(last.loss),
                    run.run.least_loss ? number(last.loss - *run.run.least_loss) : "-",
                    number(last.consensus_error)});
    if (!target) continue;
    const ConvergencePoint* reached = first_within(run, target);
    rows.back().push_back(reached == nullptr ? "-" : number(run.time_s(*reached) / unit.seconds));
  }
  std::string out = fitted(std::move(rows), static_cast<std::size_t>(columns));
  for (const ConvergenceCurve& run : runs) {
    if (!run.feasible) out += run.label + ": the simulated plan does not fit into memory\n";
  }
  return out;
}

std::string convergence_csv(const std::vector<ConvergenceCurve>& runs) {
  std::string out =
      "name,method,topology,workers,iteration,time_s,loss,least_loss,gradient_norm,consensus_error\n";
  for (const ConvergenceCurve& run : runs) {
    const std::string start = quoted(run.label) + "," + method_of(run) + "," + quoted(topology_of(run)) +
                              "," + std::to_string(run.run.workers) + ",";
    const std::string least = run.run.least_loss ? exact(*run.run.least_loss) : "";
    for (const ConvergencePoint& point : run.run.points) {
      out += start + std::to_string(point.iteration) + "," + exact(run.time_s(point)) + "," +
             exact(point.loss) + "," + least + "," + exact(point.gradient_norm) + "," +
             exact(point.consensus_error) + "\n";
    }
  }
  return out;
}

std::string convergence_json(const std::vector<ConvergenceCurve>& runs, std::optional<double> target) {
  return json_text(runs, target, 2) + "\n";
}

void write_convergence_page(const std::vector<ConvergenceCurve>& runs, std::optional<double> target,
                            const Sink& sink) {
  Page page;
  page.title = "Convergence of " + runs.front().experiment.name;
  page.scripts = {"studies.js", "converge.js"};
  page.data = json_text(runs, target, -1);
  write_page(page, sink);
}

}  // namespace orrery
