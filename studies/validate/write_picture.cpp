// The chart of a validation: predicted over measured figures, on equal scales.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "config/text/wording.hpp"
#include "orrery/error.hpp"
#include "orrery/printable.hpp"
#include "reports/chart/key_label.hpp"
#include "studies/validate/writers.hpp"

namespace orrery {
namespace {

constexpr const char* kUsualFigure = "step_time_s";
/// Limit on the tables that have a mark each; more are told apart by their constants alone.
constexpr std::size_t kMostTables = 5;
constexpr double kBand = 1.25;

std::string drawn_key(const std::vector<TableResult>& tables, const std::string& wanted) {
  std::set<std::string> known;
  for (const TableResult& table : tables)
    for (const ComparedFigure& figure : table.figures) known.insert(figure.key);
  if (wanted.empty() && !known.empty()) return known.contains(kUsualFigure) ? kUsualFigure : *known.begin();
  if (known.contains(wanted)) return wanted;
  const std::vector<std::string_view> names(known.begin(), known.end());
  throw InputError(
      {Diagnostic{"command line", 0, 0, "",
                  "--picture: found " + quote(wanted) + ", allowed " + joined(names) + hint(wanted, names)}});
}

std::string series_name(const TableResult& table, const ComparedFigure& figure, std::size_t tables) {
  if (tables <= kMostTables) return printable(table.table);
  return table.fitted && !figure.kept_back ? "constants were fitted to them" : "no constant saw them";
}

}  // namespace

ChartScene validation_scene(const std::vector<TableResult>& tables, const std::string& wanted) {
  const std::string key = drawn_key(tables, wanted);
  std::map<std::string, SceneSeries> series;
  double sum = 0;
  std::size_t rows = 0;
  std::size_t near = 0;
  for (const TableResult& table : tables) {
    for (const ComparedFigure& figure : table.figures) {
      if (figure.key != key || !(figure.pair.predicted > 0)) continue;
      const std::string name = series_name(table, figure, tables.size());
      SceneSeries& of = series.try_emplace(name, SceneSeries{name, SeriesMark::points, {}}).first->second;
      of.points.emplace_back(figure.pair.measured, figure.pair.predicted);
      const double factor = figure.pair.predicted / figure.pair.measured;
      sum += std::abs(factor - 1);
      near += factor <= kBand && factor >= 1 / kBand ? 1 : 0;
      ++rows;
    }
  }
  ChartScene scene;
  scene.title = "Predicted and measured: " + key_label(key);
  const double share = rows > 0 ? 100 / static_cast<double>(rows) : 0;
  scene.caption =
      fmt::format("{} measured runs; mean error {:.1f} %; {:.0f} % of them within a factor of {} (dashed).",
                  rows, sum * share, static_cast<double>(near) * share, kBand);
  scene.x = {"measured " + key_label(key), AxisScale::logarithmic};
  scene.y = {"predicted " + key_label(key), AxisScale::logarithmic};
  scene.equal_scales = true;
  for (auto& [name, of] : series) scene.series.push_back(std::move(of));
  scene.rules = {{RuleKind::diagonal, 1, "equal", true},
                 {RuleKind::diagonal, kBand, "", false},
                 {RuleKind::diagonal, 1 / kBand, "", false}};
  return scene;
}

}  // namespace orrery
