#include "apps/sweep_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "apps/text_columns.hpp"
#include "config/text/wording.hpp"
#include "reports/text/column_table.hpp"

namespace orrery {
namespace {

/// Figures shown beside those aimed at.
constexpr std::array<std::string_view, 8> kShownFigures{
    "step_time_s", "tokens_per_s_per_gpu", "ttft_s_p99", "tpot_s_p99", "tokens_per_s",
    "mfu",         "memory.peak_gb",       "cost_usd"};
constexpr std::array<TableUnit, 5> kCountUnits{{{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}}};
constexpr std::array<TableUnit, 1> kShareUnits{{{0.01, "%"}}};
constexpr std::array<TableUnit, 1> kGigabyteUnits{{{1, "GB"}}};
constexpr std::array<TableUnit, 1> kDollarUnits{{{1, "USD"}}};
constexpr std::array<TableUnit, 1> kEnergyUnits{{{1, "kWh"}}};

constexpr int kKeyImportance = 100;
constexpr int kAimImportance = 95;
constexpr int kFigureImportance = 70;

std::span<const TableUnit> units_of(std::string_view key) {
  constexpr std::array<std::string_view, 6> kShares{
      "mfu",           "hfu", "pipeline_bubble_fraction", "utilization.gpu_mean", "utilization.gpu_min",
      "tensor_overlap"};
  if (std::ranges::find(kShares, key) != kShares.end()) return kShareUnits;
  if (key.find("_gb") != std::string_view::npos) return kGigabyteUnits;
  if (key.ends_with("_usd")) return kDollarUnits;
  if (key.ends_with("_kwh")) return kEnergyUnits;
  const bool rate = key.find("_per_s") != std::string_view::npos;
  const bool time = key.ends_with("_s") || key.find("_s_p") != std::string_view::npos ||
                    key.find("_s.") != std::string_view::npos;
  if (time && !rate) return std::span(kTimeUnits).first(3);
  return kCountUnits;
}

std::optional<double> number_of(const ResultScalar& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* count = std::get_if<std::int64_t>(&value)) return static_cast<double>(*count);
  return {};
}

std::string cell_of_value(const ResultScalar& value) {
  constexpr std::size_t kLongest = 44;
  if (std::holds_alternative<std::monostate>(value)) return kEmptyCell;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* count = std::get_if<std::int64_t>(&value)) return std::to_string(*count);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{:.6g}", *number);
  return shortened(printable(std::get<std::string>(value)), kLongest);
}

/// Builds the columns of the table on the terminal from those of the file.
class PointColumns {
 public:
  PointColumns(const ResultsTable& table, const std::vector<std::uint64_t>& points) : table_(table) {
    table.read(points, [this](const ResultsTable::Row& row) { rows_.push_back(row); });
  }

  std::vector<TableColumn> columns(std::span<const Aim> aims) {
    add_values();
    for (const Aim& aim : aims) add_figure(aim.key, kAimImportance);
    int importance = kFigureImportance;
    for (const std::string_view key : kShownFigures) add_figure(key, --importance);
    add_points();
    return std::move(columns_);
  }

 private:
  void add_values() {
    std::vector<std::string> keys;
    std::vector<std::size_t> places;
    for (std::size_t c = 0; c < table_.columns().size(); ++c) {
      if (!table_.columns()[c].of_space || !is_used(c)) continue;
      keys.push_back(table_.columns()[c].name);
      places.push_back(c);
    }
    const std::vector<std::string> names = short_names(keys);
    for (std::size_t k = 0; k < keys.size(); ++k) {
      TableColumn column{names[k], "", {}, true, kKeyImportance, names[k]};
      for (const ResultsTable::Row& row : rows_) column.cells.push_back(cell_of_value(row[places[k]]));
      column.right = std::ranges::all_of(column.cells, is_number_cell);
      columns_.push_back(std::move(column));
    }
  }

  /// A key of another sweep in the file has no values here.
  [[nodiscard]] bool is_used(std::size_t column) const {
    return std::ranges::any_of(rows_, [column](const ResultsTable::Row& row) {
      return !std::holds_alternative<std::monostate>(row[column]);
    });
  }

  void add_figure(std::string_view key, int importance) {
    const auto found = std::ranges::find(table_.columns(), key, &ResultsColumn::name);
    if (found == table_.columns().end() || std::ranges::find(shown_, key) != shown_.end()) return;
    const auto place = static_cast<std::size_t>(found - table_.columns().begin());
    if (!is_used(place)) return;
    shown_.emplace_back(key);
    ColumnValues values;
    for (const ResultsTable::Row& row : rows_) values.push_back(number_of(row[place]));
    columns_.push_back(figure_column(std::string(key), values, units_of(key), importance));
  }

  void add_points() {
    TableColumn column{"point", "", {}, true, kAimImportance, ""};
    for (const ResultsTable::Row& row : rows_) column.cells.push_back(cell_of_value(row.front()));
    columns_.push_back(std::move(column));
  }

  const ResultsTable& table_;
  std::vector<ResultsTable::Row> rows_;
  std::vector<std::string> shown_;
  std::vector<TableColumn> columns_;
};

}  // namespace

std::string summary_text(const SweepSummary& summary, const std::string& file, std::size_t width) {
  std::string text = fmt::format("{}: sweep {}, {} of {} points\n", printable(file), summary.sweep,
                                 summary.valid() + summary.removed_points(), summary.points);
  const auto count = [&text](std::uint64_t points, std::string_view what) {
    if (points > 0) text += fmt::format("  {:>10}  {}\n", points, what);
  };
  const bool repeats = summary.distinct < summary.valid();
  count(summary.feasible, "feasible");
  count(summary.infeasible, "do not fit into memory");
  count(summary.failed, "cannot be simulated");
  if (repeats) count(summary.distinct, "of these differ, and were simulated");
  std::vector<std::pair<std::string, Removed>> removed(summary.removed.begin(), summary.removed.end());
  std::ranges::stable_sort(removed, std::greater<>(), [](const auto& entry) { return entry.second.points; });
  for (const auto& [by, some] : removed) {
    const std::string why = some.message.empty() ? "" : ", such as: " + printable(some.message);
    count(some.points, fmt::format("removed by {}{}", printable(by), why));
  }
  return wrapped_lines(text, static_cast<int>(width));
}

std::string points_text(const ResultsTable& table, const std::vector<std::uint64_t>& points,
                        std::span<const Aim> aims, std::size_t width, bool colour) {
  std::vector<TableColumn> columns = PointColumns(table, points).columns(aims);
  return table_text(std::move(columns), {width, colour, "in all rows", "--export csv has all"});
}

}  // namespace orrery
