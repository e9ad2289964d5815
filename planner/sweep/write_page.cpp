// The page of a file of results (reports/page/assets/sweep.js).
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "planner/methods/objective.hpp"
#include "planner/sweep/results_table.hpp"
#include "reports/page/plan_table.hpp"

namespace orrery {
namespace {

using SweepPageJson = nlohmann::ordered_json;

/// Most points of a page: browsers draw and sort this many at once, in a file of some 40 MB.
constexpr std::uint64_t kMostPagePoints = 50'000;

std::string text_of(const ResultScalar& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* count = std::get_if<std::int64_t>(&value)) return std::to_string(*count);
  if (const auto* number = std::get_if<double>(&value)) return SweepPageJson(*number).dump();
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? "" : *text;
}

std::optional<double> figure_of(const ResultScalar& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* count = std::get_if<std::int64_t>(&value)) return static_cast<double>(*count);
  return std::nullopt;
}

PlanTable::State state_of(const ResultScalar& value) {
  const auto found = std::ranges::find(kPointStateNames, text_of(value));
  return static_cast<PlanTable::State>(found - kPointStateNames.begin());
}

/// Takes the rows of a file of results into a table of plans.
class PagePoints {
 public:
  explicit PagePoints(const ResultsTable& results) : results_(results), plans_(keys_of(results)) {}

  void add(const ResultsTable::Row& row) {
    const std::vector<ResultsColumn>& columns = results_.columns();
    std::vector<std::string> values;
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (columns[c].of_space) values.push_back(text_of(row[c]));
    plans_.add(values, state_of(row[1]), text_of(row[2]));
    plans_.set_figure("point", figure_of(row[0]));
    for (std::size_t c = 3; c < columns.size(); ++c)
      if (!columns[c].of_space) plans_.set_figure(columns[c].name, figure_of(row[c]));
  }

  [[nodiscard]] const PlanTable& plans() const { return plans_; }

 private:
  static std::vector<PlanTableKey> keys_of(const ResultsTable& results) {
    std::vector<PlanTableKey> keys;
    for (const ResultsColumn& column : results.columns())
      if (column.of_space) keys.push_back({column.name});
    return keys;
  }

  const ResultsTable& results_;
  PlanTable plans_;
};

/// Figures of which more is better.
SweepPageJson better_most(const ResultsTable& results) {
  SweepPageJson names = SweepPageJson::object();
  for (const ResultsColumn& column : results.columns())
    if (!column.of_space && more_is_better(column.name)) names[column.name] = "most";
  return names;
}

/// All points, or the feasible ones with the shortest steps where they are too many.
std::optional<std::vector<std::uint64_t>> shown_points(const ResultsTable& results,
                                                       const SweepSummary& summary) {
  if (summary.valid() <= kMostPagePoints) return std::nullopt;
  return results.best(parse_aim(results.usual_figure()), kMostPagePoints);
}

}  // namespace

void write_sweep_page(const ResultsTable& results, const std::string& file, const Sink& sink) {
  const SweepSummary summary = results.summary();
  PagePoints points(results);
  results.read(shown_points(results, summary), [&points](const ResultsTable::Row& row) { points.add(row); });
  const std::string name = file.substr(file.rfind('/') + 1);  // of a page that is sent, folders say nothing
  SweepPageJson data{{"file", name},
                     {"sweep", summary.sweep},
                     {"points", summary.points},
                     {"feasible", summary.feasible},
                     {"infeasible", summary.infeasible},
                     {"failed", summary.failed},
                     {"distinct", summary.distinct},
                     {"removed", SweepPageJson::array()},
                     {"better", better_most(results)}};
  for (const auto& [by, removed] : summary.removed)
    data["removed"].push_back({{"by", by}, {"points", removed.points}, {"message", removed.message}});
  data["plans"] = SweepPageJson::parse(points.plans().json());
  Page page;
  page.title = "Sweep: " + name;
  page.scripts = {"studies.js", "plans.js", "plan-views.js", "sweep.js"};
  page.data = data.dump(-1, ' ', false, SweepPageJson::error_handler_t::replace);
  points.plans().add_columns(page);
  write_page(page, sink);
}

}  // namespace orrery
