#include "planner/sweep/sweep_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "config/text/wording.hpp"
#include "orrery/error.hpp"
#include "planner/methods/objective.hpp"
#include "reports/chart/key_label.hpp"
#include "reports/chart/scene_axes.hpp"

namespace orrery {
namespace {

constexpr std::size_t kMostNames = 200;  // of an axis
constexpr std::string_view kMemory = "memory.peak_gb";

[[noreturn]] void refuse_axes(const std::string& message) {
  throw InputError({Diagnostic{"command line", 0, 0, "", "--picture: " + message}});
}

bool is_named(const ResultsColumn& column, std::string_view name) {
  return column.name == name || column.name.ends_with("." + std::string(name));
}

/// Returns the place of a key or figure. The first three columns are those of the point itself.
std::size_t column_named(const ResultsTable& table, std::string_view name) {
  const std::vector<ResultsColumn>& columns = table.columns();
  const auto found = std::find_if(columns.begin() + 3, columns.end(),
                                  [&](const ResultsColumn& column) { return is_named(column, name); });
  if (found != columns.end()) return static_cast<std::size_t>(found - columns.begin());
  std::vector<std::string_view> known;
  for (std::size_t c = 3; c < columns.size(); ++c) known.push_back(columns[c].name);
  refuse_axes(fmt::format("found {}, allowed a key or figure of the file{}", quote(std::string(name)),
                          hint(name, known)));
}

std::optional<double> number_in(const ResultScalar& value) {
  if (const auto* number = std::get_if<double>(&value))
    return std::isfinite(*number) ? std::optional(*number) : std::nullopt;
  if (const auto* count = std::get_if<std::int64_t>(&value)) return static_cast<double>(*count);
  return std::nullopt;
}

std::string text_in(const ResultScalar& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const std::optional<double> number = number_in(value);
  return number ? chart_number(*number) : "-";
}

bool is_feasible(const ResultsTable::Row& row) {
  const auto* state = std::get_if<std::string>(&row[1]);
  return state != nullptr && *state == kPointStateNames[static_cast<std::size_t>(PointState::feasible)];
}

std::string sweep_conditions(const SweepSummary& summary) {
  std::string text = fmt::format("{} feasible points of {}", summary.feasible, summary.points);
  if (summary.infeasible > 0) text += fmt::format("; {} do not fit into memory", summary.infeasible);
  return text + ".";
}

/// A scatter of two columns with numbers.
class Scatter {
 public:
  Scatter(const ResultsTable& table, std::size_t x, std::size_t y) : table_(table), x_(x), y_(y) {}

  ChartScene scene() {
    SceneSeries all{"feasible points", SeriesMark::cloud, {}};
    table_.read(std::nullopt, [&](const ResultsTable::Row& row) { add(row, all); });
    if (all.points.empty())
      refuse_axes(fmt::format("no feasible point has numbers of both {} and {}", name(x_), name(y_)));
    ChartScene scene{"Sweep: " + key_label(name(y_)) + " over " + key_label(name(x_)),
                     sweep_conditions(table_.summary()), axis(x_, xs_), axis(y_, ys_)};
    scene.series.push_back(std::move(all));
    if (!of_space(x_) && !of_space(y_)) scene.series.push_back(front());
    return scene;
  }

 private:
  [[nodiscard]] const std::string& name(std::size_t column) const { return table_.columns()[column].name; }
  [[nodiscard]] bool of_space(std::size_t column) const { return table_.columns()[column].of_space; }

  [[nodiscard]] SceneAxis axis(std::size_t column, const std::vector<double>& values) const {
    return of_space(column) ? axis_along(key_label(name(column)), values)
                            : axis_of_figure(key_label(name(column)), values, true);
  }

  void add(const ResultsTable::Row& row, SceneSeries& series) {
    const std::optional<double> x = number_in(row[x_]);
    const std::optional<double> y = number_in(row[y_]);
    if (!is_feasible(row) || !x || !y) return;
    xs_.push_back(*x);
    ys_.push_back(*y);
    series.points.emplace_back(*x, *y);
  }

  SceneSeries front() const {
    SceneSeries series{"none is better in both", SeriesMark::line_with_points, {}};
    const std::vector<Aim> aims{parse_aim(name(x_)), parse_aim(name(y_))};
    table_.read(table_.pareto(aims), [&](const ResultsTable::Row& row) {
      series.points.emplace_back(*number_in(row[x_]), *number_in(row[y_]));
    });
    std::ranges::stable_sort(series.points);
    return series;
  }

  const ResultsTable& table_;
  std::size_t x_, y_;
  std::vector<double> xs_, ys_;
};

/// The texts of a key in the order of their numbers, texts without one last.
using Names = std::map<std::pair<double, std::string>, std::size_t>;

std::pair<double, std::string> order_of(const ResultScalar& value) {
  return {number_in(value).value_or(INFINITY), text_in(value)};
}

std::vector<std::string> numbered(Names& names) {
  std::vector<std::string> texts;
  for (auto& [order, place] : names) {
    place = texts.size();
    texts.push_back(order.second);
  }
  return texts;
}

/// The best value of a figure in each pair of values of two columns.
ChartScene map_scene(const ResultsTable& table, std::size_t x, std::size_t y, std::size_t figure) {
  const std::vector<ResultsColumn>& columns = table.columns();
  const bool most = more_is_better(columns[figure].name);
  Names across;
  Names down;
  std::map<std::pair<std::pair<double, std::string>, std::pair<double, std::string>>, double> best;
  table.read(std::nullopt, [&](const ResultsTable::Row& row) {
    const std::optional<double> value = number_in(row[figure]);
    if (!is_feasible(row) || !value) return;
    across[order_of(row[x])] = down[order_of(row[y])] = 0;
    const auto [cell, is_new] = best.try_emplace({order_of(row[y]), order_of(row[x])}, *value);
    if (!is_new && (most ? *value > cell->second : *value < cell->second)) cell->second = *value;
    if (across.size() > kMostNames || down.size() > kMostNames)
      refuse_axes(
          fmt::format("found more than {} values of a key, allowed so many of a heat map", kMostNames));
  });
  if (best.empty()) refuse_axes("no feasible point has a number of " + columns[figure].name);
  ChartScene scene{"Sweep: " + key_label(columns[figure].name),
                   sweep_conditions(table.summary()),
                   {key_label(columns[x].name), AxisScale::names, numbered(across)},
                   {key_label(columns[y].name), AxisScale::names, numbered(down)}};
  SceneMap& map = scene.map.emplace();
  map.label = std::string(most ? "largest " : "least ") + key_label(columns[figure].name);
  map.less_is_better = !most;
  map.values.resize(across.size() * down.size());
  for (const auto& [cell, value] : best)
    map.values[down[cell.first] * across.size() + across[cell.second]] = value;
  scene.caption = "Cells: " + map.label + ", dark is better, grey has no feasible point. " + scene.caption;
  return scene;
}

}  // namespace

ChartScene sweep_scene(const ResultsTable& table, std::string_view axes) {
  if (axes.empty()) {
    const std::string usual = table.usual_figure();
    const bool memory = table.has_figure(kMemory);
    const auto first_key = std::ranges::find(table.columns(), true, &ResultsColumn::of_space);
    return Scatter(
               table,
               column_named(table, memory || first_key == table.columns().end() ? kMemory : first_key->name),
               column_named(table, usual))
        .scene();
  }
  std::vector<std::size_t> columns;
  for (std::size_t begin = 0; begin <= axes.size();) {
    const std::size_t end = std::min(axes.find(':', begin), axes.size());
    columns.push_back(column_named(table, axes.substr(begin, end - begin)));
    begin = end + 1;
  }
  if (columns.size() == 2) return Scatter(table, columns[0], columns[1]).scene();
  if (columns.size() == 3) return map_scene(table, columns[0], columns[1], columns[2]);
  refuse_axes(fmt::format("found {}, allowed X:Y for a scatter and X:Y:FIGURE for a heat map",
                          quote(std::string(axes))));
}

}  // namespace orrery
