#include "studies/compare/table_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "config/text/wording.hpp"
#include "studies/compare/figures.hpp"

namespace orrery {
namespace {

constexpr std::size_t kLongestName = 32;
constexpr std::size_t kLongestValue = 44;
/// Varied keys and their effects stay longest.
constexpr int kAlways = 100;

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
    column.cells.push_back(text.empty() ? kEmptyCell : printable(text));
  }
  return column;
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
    column.right = std::ranges::all_of(column.cells, is_number_cell);
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
  columns.push_back(figure_column(
      "comm.", values_of(comparison, [](const ComparedRow& row) { return row.communication_s(); }),
      std::span(kTimeUnits).first(3), 80));
  columns.push_back(
      figure_column("sent", values_of(comparison, [](const ComparedRow& row) { return row.data_bytes(); }),
                    kSizeUnits, 30));
  columns.push_back(figure_column(
      "step", values_of(comparison, [](const ComparedRow& row) { return row.report->step_time_s(); }),
      std::span(kTimeUnits).first(3), 95));
}

void add_ratios(const Comparison& comparison, std::vector<TableColumn>& columns) {
  columns.push_back(words(comparison, "speed-up", true, 90, [](const ComparedRow& row) {
    return row.ratios && row.ratios->speed_up ? fmt::format("{:.3f}", *row.ratios->speed_up) : std::string();
  }));
  columns.push_back(words(comparison, "scaling", true, 70, [](const ComparedRow& row) {
    const bool known = row.ratios && row.ratios->scaling_efficiency;
    return known ? fmt::format("{:.1f}", 100 * *row.ratios->scaling_efficiency) : std::string();
  }));
  columns.back().unit = "%";
}

/// Latencies and rates of requests.
void add_serving(const Comparison& comparison, std::vector<TableColumn>& columns) {
  const auto served = [&](auto get) {
    ColumnValues values;
    for (const ComparedRow& row : comparison.rows)
      values.push_back(row.is_timed() ? std::optional<double>(get(*row.report)) : std::nullopt);
    return values;
  };
  const auto time = [&](const char* header, Distribution Serving::*of, double Distribution::*part, int rank) {
    const ColumnValues values = served([=](const Report& report) { return (*report.serving).*of.*part; });
    columns.push_back(figure_column(header, values, std::span(kTimeUnits).first(3), rank));
  };
  columns.push_back(words(comparison, "GPUs", true, 45, [](const ComparedRow& row) {
    return row.report ? count(row.report->gpus) : std::string();
  }));
  columns.back().words = "GPUs";
  time("TTFT", &Serving::ttft_s, &Distribution::mean, 92);
  time("TTFT p99", &Serving::ttft_s, &Distribution::p99, 80);
  time("TPOT", &Serving::tpot_s, &Distribution::mean, 94);
  time("TPOT p99", &Serving::tpot_s, &Distribution::p99, 78);
  constexpr std::array<TableUnit, 3> kRates{{{1, "/s"}, {1e3, "k/s"}, {1e6, "M/s"}}};
  columns.push_back(figure_column(
      "output", served([](const Report& r) { return r.serving->output_tokens_per_s(); }), kRates, 75));
  columns.push_back(figure_column("tokens/GPU", served([](const Report& r) {
                                    return r.serving->tokens_per_s() / static_cast<double>(r.gpus);
                                  }),
                                  kRates, 96));
}

/// Time of the whole run, where its length is given: hours, or days where it takes weeks.
void add_training(const Comparison& comparison, std::vector<TableColumn>& columns) {
  ColumnValues times;
  for (const ComparedRow& row : comparison.rows) {
    const bool known = row.report && row.report->training_tokens > 0;
    times.push_back(known ? std::optional(86400 * row.report->training_days()) : std::nullopt);
  }
  if (std::ranges::none_of(times, [](const auto& time) { return time.has_value(); })) return;
  constexpr TableUnit kWeeks{14 * kTimeUnits.back().size, "two weeks"};
  const std::array units{kTimeUnits[3], kWeeks};
  const bool weeks = unit_for(times, units).size == kWeeks.size;
  columns.push_back(figure_column("training", times, std::span(kTimeUnits).subspan(weeks ? 4 : 3, 1), 88));
}

/// Weeks with failures, where the experiments have them.
void add_weeks_of(const Comparison& comparison, std::vector<TableColumn>& columns) {
  const auto ends = [](const ComparedRow& row) {
    return row.report && row.report->long_run && row.report->long_run->ends;
  };
  if (std::ranges::none_of(comparison.rows, ends)) return;
  columns.push_back(words(comparison, "goodput", true, 86, [&](const ComparedRow& row) {
    return ends(row) ? fmt::format("{:.1f}", 100 * row.report->long_run->goodput) : std::string();
  }));
  columns.back().unit = "%";
  columns.push_back(words(comparison, "done in", true, 98, [&](const ComparedRow& row) {
    return ends(row) ? fmt::format("{:.2f}", row.report->long_run->days) : std::string();
  }));
  columns.back().unit = "days";
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

/// A star behind the best cell, and room for it behind the others.
void mark(std::optional<std::size_t> best, TableColumn& column) {
  for (std::size_t i = 0; i < column.cells.size(); ++i) column.cells[i] += best == i ? " *" : "  ";
}

/// Times by published runs: a range, or more than the longest that was tried.
void add_practice(const Comparison& comparison, std::vector<TableColumn>& columns) {
  ColumnValues least;
  for (const ComparedRow& row : comparison.rows) {
    const bool known = row.target && row.target->practice;
    least.push_back(known ? std::optional(row.target->practice->least_s) : std::nullopt);
  }
  const TableUnit unit = unit_for(least, std::span(kTimeUnits).subspan(1));
  columns.push_back(words(comparison, "in practice", true, 97, [&unit](const ComparedRow& row) {
    if (!row.target || !row.target->practice) return std::string();
    const PracticeTime& time = *row.target->practice;
    const std::string from = fmt::format("{:.4g}", time.least_s / unit.size);
    if (!std::isfinite(time.most_s)) return "> " + from;
    const std::string to = fmt::format("{:.4g}", time.most_s / unit.size);
    return from == to ? from : from + ".." + to;
  }));
  columns.back().unit = unit.name;
  mark(comparison.practical_spot(), columns.back());
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
  columns.push_back(figure_column("to target", times, std::span(kTimeUnits).subspan(1), 96));
  mark(comparison.sweet_spot(), columns.back());
  add_practice(comparison, columns);
  columns.push_back(words(comparison, "gap", true, 35, [](const ComparedRow& row) {
    return row.target && row.target->gap ? fmt::format("{:.3g}", *row.target->gap) : std::string();
  }));
}

}  // namespace

std::vector<TableColumn> table_columns(const Comparison& comparison) {
  std::vector<TableColumn> columns;
  add_names(comparison, columns);
  add_solved(comparison, columns);
  if (comparison.serves()) {
    add_serving(comparison, columns);
  } else {
    add_sync(comparison, columns);
    add_speed(comparison, columns);
  }
  add_ratios(comparison, columns);
  columns.push_back(words(comparison, "feasible", false, 85,
                          [](const ComparedRow& row) { return row.feasible() ? "yes" : "no"; }));
  columns.back().words = "feasible";
  add_training(comparison, columns);
  add_weeks_of(comparison, columns);
  add_target(comparison, columns);
  return columns;
}

}  // namespace orrery
