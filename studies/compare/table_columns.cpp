#include "studies/compare/table_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "config/schema/wording.hpp"
#include "reports/text_table.hpp"
#include "studies/compare/figures.hpp"

namespace orrery {
namespace {

constexpr const char* kNothing = "-";
constexpr std::size_t kLongestName = 32;
constexpr std::size_t kLongestValue = 44;
/// Varied keys and what they did stay longest.
constexpr int kAlways = 100;

using ColumnValues = std::vector<std::optional<double>>;

struct Unit {
  double size = 1;
  std::string_view name;
};
constexpr std::array<Unit, 5> kTimes{{{1e-6, "us"}, {1e-3, "ms"}, {1, "s"}, {3600, "h"}, {86400, "days"}}};
constexpr std::array<Unit, 4> kSizes{{{1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}}};

struct Range {
  double least = 0;  ///< above 0
  double most = 0;
};

Range range_of(const ColumnValues& values) {
  Range range;
  for (const auto& value : values) {
    if (!value || *value <= 0 || !std::isfinite(*value)) continue;
    range.least = range.least > 0 ? std::min(range.least, *value) : *value;
    range.most = std::max(range.most, *value);
  }
  return range;
}

/// The unit in which the middle of the range, by ratio, is at least 1.
Unit unit_for(const Range& range, std::span<const Unit> units) {
  const double middle = std::sqrt(range.least * range.most);
  Unit best = units.front();
  for (const Unit& unit : units) {
    if (middle >= unit.size) best = unit;
  }
  return best;
}

/// Decimals that give the smallest value four digits, and at most three.
int decimals_for(double least) {
  if (least <= 0) return 0;
  return std::clamp(3 - static_cast<int>(std::floor(std::log10(least))), 0, 3);
}

std::string number(double value, int decimals) {
  if (std::isinf(value)) return "never";
  return fmt::format("{:.{}f}", value, decimals);
}

TableColumn figures(std::string header, const ColumnValues& values, std::span<const Unit> units,
                    int importance) {
  const Range range = range_of(values);
  const Unit unit = unit_for(range, units);
  const int decimals = decimals_for(range.least / unit.size);
  TableColumn column{std::move(header), std::string(unit.name), {}, true, importance, ""};
  for (const auto& value : values) {
    column.cells.push_back(value ? number(*value / unit.size, decimals) : kNothing);
  }
  return column;
}

template <class Get>
ColumnValues values_of(const Comparison& comparison, Get get) {
  ColumnValues values;
  for (const ComparedRow& row : comparison.rows) {
    values.push_back(row.report ? std::optional<double>(get(row)) : std::nullopt);
  }
  return values;
}

template <class Get>
TableColumn words(const Comparison& comparison, std::string header, bool right, int importance, Get get) {
  TableColumn column{std::move(header), "", {}, right, importance, ""};
  for (const ComparedRow& row : comparison.rows) {
    const std::string text = get(row);
    column.cells.push_back(text.empty() ? kNothing : printable(text));
  }
  return column;
}

std::string shortened(std::string name, std::size_t most) {
  if (name.size() > most) name = name.substr(0, most - 3) + "...";
  return name;
}

bool is_number(const std::string& text) {
  return text == kNothing ||
         (!text.empty() && text.find_first_not_of("0123456789.eE+-") == std::string::npos);
}

void add_names(const Comparison& comparison, std::vector<TableColumn>& columns) {
  if (comparison.several || comparison.keys.empty()) {
    columns.push_back(words(comparison, "experiment", false, kAlways,
                            [](const ComparedRow& row) { return shortened(row.name, kLongestName); }));
  }
  const std::vector<std::string> names = short_names(comparison.keys);
  for (std::size_t i = 0; i < names.size(); ++i) {
    TableColumn column = words(comparison, names[i], false, kAlways, [i](const ComparedRow& row) {
      return shortened(row.varied[i], kLongestValue);
    });
    column.right = std::ranges::all_of(column.cells, is_number);
    columns.push_back(std::move(column));
  }
}

void add_solved(const Comparison& comparison, std::vector<TableColumn>& columns) {
  if (!comparison.solve) return;
  std::vector<std::string> keys = comparison.keys;
  keys.push_back(comparison.solve->key);
  columns.push_back(words(comparison, short_names(keys).back(), true, kAlways,
                          [](const ComparedRow& row) { return row.solved; }));
  columns.back().unit = "found";
}

bool varies(const Comparison& comparison, std::string_view key) {
  return std::ranges::find(comparison.keys, key) != comparison.keys.end();
}

std::string count(std::int64_t value) { return value > 0 ? std::to_string(value) : std::string(); }

void add_sync(const Comparison& comparison, std::vector<TableColumn>& columns) {
  if (!varies(comparison, "data_parallel_sync.method")) {
    columns.push_back(
        words(comparison, "method", false, 60, [](const ComparedRow& row) { return row.sync.method; }));
    columns.back().words = "method";
  }
  if (!varies(comparison, "data_parallel_sync.topology")) {
    columns.push_back(
        words(comparison, "topology", false, 50, [](const ComparedRow& row) { return row.sync.topology; }));
    columns.back().words = "topology";
  }
  columns.push_back(
      words(comparison, "wire", false, 48, [](const ComparedRow& row) { return row.sync.wire; }));
  columns.back().words = "on the wire";
  columns.push_back(
      words(comparison, "n", true, 55, [](const ComparedRow& row) { return count(row.sync.workers); }));
  columns.back().words = "workers";
  columns.push_back(words(comparison, "GPUs", true, 45, [](const ComparedRow& row) {
    return row.report ? count(row.report->gpus) : std::string();
  }));
  columns.back().words = "GPUs";
}

void add_speed(const Comparison& comparison, std::vector<TableColumn>& columns) {
  columns.push_back(
      figures("comm.", values_of(comparison, [](const ComparedRow& row) { return row.communication_s(); }),
              std::span(kTimes).first(3), 80));
  columns.push_back(figures(
      "sent", values_of(comparison, [](const ComparedRow& row) { return row.data_bytes(); }), kSizes, 30));
  columns.push_back(
      figures("step", values_of(comparison, [](const ComparedRow& row) { return row.report->step_time_s(); }),
              std::span(kTimes).first(3), 95));
  columns.push_back(words(comparison, "speed-up", true, 90, [](const ComparedRow& row) {
    return row.ratios && row.ratios->speed_up ? fmt::format("{:.3f}", *row.ratios->speed_up) : std::string();
  }));
  columns.push_back(words(comparison, "scaling", true, 70, [](const ComparedRow& row) {
    const bool known = row.ratios && row.ratios->scaling_efficiency;
    return known ? fmt::format("{:.1f}", 100 * *row.ratios->scaling_efficiency) : std::string();
  }));
  columns.back().unit = "%";
}

/// Time of the whole run, where its length is given: hours, or days where it takes weeks.
void add_training(const Comparison& comparison, std::vector<TableColumn>& columns) {
  ColumnValues times;
  for (const ComparedRow& row : comparison.rows) {
    const bool known = row.report && row.report->training_tokens > 0;
    times.push_back(known ? std::optional(86400 * row.report->training_days()) : std::nullopt);
  }
  if (std::ranges::none_of(times, [](const auto& time) { return time.has_value(); })) return;
  const Range range = range_of(times);
  const bool weeks = std::sqrt(range.least * range.most) > 14 * kTimes.back().size;
  columns.push_back(figures("training", times, std::span(kTimes).subspan(weeks ? 4 : 3, 1), 88));
}

/// A whole number in full up to six digits, beyond as 39.3 M.
std::string steps(double value) {
  if (std::isinf(value)) return "never";
  if (value < 1e6) return fmt::format("{:.0f}", value);
  constexpr std::array<std::string_view, 5> kPrefixes{"M", "B", "T", "P", "E"};
  value /= 1e6;
  std::size_t prefix = 0;
  for (; value >= 999.5 && prefix + 1 < kPrefixes.size(); ++prefix) value /= 1000;
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", value, decimals, kPrefixes[prefix]);
}

void add_target(const Comparison& comparison, std::vector<TableColumn>& columns) {
  const auto has = [](const ComparedRow& row) { return row.target && row.target->steps; };
  if (std::ranges::none_of(comparison.rows, [](const ComparedRow& row) { return row.target.has_value(); }))
    return;
  columns.push_back(words(comparison, "iterations", true, 75, [&](const ComparedRow& row) {
    return has(row) ? steps(row.target->steps->iterations) : std::string();
  }));
  columns.push_back(words(comparison, "transient", true, 40, [&](const ComparedRow& row) {
    return has(row) ? steps(row.target->steps->transient) : std::string();
  }));
  ColumnValues times;
  for (const ComparedRow& row : comparison.rows) {
    times.push_back(has(row) ? std::optional(row.target->time_s) : std::nullopt);
  }
  columns.push_back(figures("to target", times, std::span(kTimes).subspan(1), 96));
  const auto best = comparison.sweet_spot();
  for (std::size_t i = 0; i < columns.back().cells.size(); ++i) {
    columns.back().cells[i] += best == i ? " *" : "  ";
  }
  columns.push_back(words(comparison, "gap", true, 35, [](const ComparedRow& row) {
    return row.target && row.target->gap ? fmt::format("{:.3g}", *row.target->gap) : std::string();
  }));
}

}  // namespace

std::size_t TableColumn::width() const {
  std::size_t width = std::max(text_width(header), text_width(unit));
  for (const std::string& cell : cells) width = std::max(width, text_width(cell));
  return width;
}

const std::string& TableColumn::shared_value() const {
  const auto said = std::ranges::find_if(cells, [](const std::string& cell) { return cell != kNothing; });
  return said == cells.end() ? cells.front() : *said;
}

bool TableColumn::same_in_all_rows() const {
  const std::string& value = shared_value();
  return std::ranges::all_of(cells,
                             [&](const std::string& cell) { return cell == value || cell == kNothing; });
}

std::vector<TableColumn> table_columns(const Comparison& comparison) {
  std::vector<TableColumn> columns;
  add_names(comparison, columns);
  add_solved(comparison, columns);
  add_sync(comparison, columns);
  add_speed(comparison, columns);
  columns.push_back(words(comparison, "feasible", false, 85,
                          [](const ComparedRow& row) { return row.feasible() ? "yes" : "no"; }));
  columns.back().words = "feasible";
  add_training(comparison, columns);
  add_target(comparison, columns);
  return columns;
}

}  // namespace orrery
