#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "config/text/wording.hpp"
#include "orrery/error.hpp"
#include "reports/text/column_table.hpp"
#include "studies/compare/figures.hpp"
#include "studies/compare/writers.hpp"

namespace orrery {
namespace {

[[noreturn]] void refuse_chart(const std::string& message) {
  throw InputError({Diagnostic{"command line", 0, 0, "", "--chart: " + message}});
}

std::optional<double> numeric(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

bool is_numeric(const Comparison& comparison, std::size_t key) {
  return std::ranges::all_of(comparison.rows, [key](const ComparedRow& row) {
    return row.varied[key].empty() || numeric(row.varied[key]).has_value();
  });
}

std::optional<std::size_t> first_numeric(const Comparison& comparison) {
  for (std::size_t i = 0; i < comparison.keys.size(); ++i) {
    if (is_numeric(comparison, i)) return i;
  }
  return std::nullopt;
}

std::size_t key_named(const Comparison& comparison, std::string_view name) {
  for (std::size_t i = 0; i < comparison.keys.size(); ++i) {
    const std::string& key = comparison.keys[i];
    if (key != name && !key.ends_with("." + std::string(name))) continue;
    if (is_numeric(comparison, i)) return i;
    refuse_chart(fmt::format("found key {}, allowed one with numbers", quote(name)));
  }
  const auto known = views(comparison.keys);
  refuse_chart(
      fmt::format("found key {}, allowed {}", quote(name),
                  known.empty() ? "a key of --vary" : "one of " + joined(known) + hint(name, known)));
}

std::size_t x_key(const Comparison& comparison, std::string_view name) {
  if (!name.empty()) return key_named(comparison, name);
  const auto first = first_numeric(comparison);
  if (!first) refuse_chart("found no --vary with numbers to draw along");
  return *first;
}

std::optional<double> figure_of(const ComparedRow& row, std::string_view name) {
  const std::vector<NamedFigure> figures = all_figures(row);
  const auto found = std::ranges::find(figures, name, &NamedFigure::name);
  return found == figures.end() ? std::nullopt : found->value;
}

std::string y_figure(const Comparison& comparison, std::string_view name) {
  std::set<std::int64_t> sizes;
  std::vector<std::string> known;
  for (const ComparedRow& row : comparison.rows) {
    if (!row.report) continue;
    sizes.insert(row.report->gpus);
    if (!known.empty()) continue;
    for (const NamedFigure& figure : all_figures(row)) known.push_back(figure.name);
  }
  const bool timed = comparison.sweet_spot().has_value();
  if (name.empty() && timed) return "time_to_target_s";
  if (name.empty() && comparison.serves()) return "tokens_per_s_per_gpu";
  if (name.empty()) return sizes.size() > 1 ? "samples_per_s" : "step_time_s";
  if (std::ranges::find(known, name) != known.end()) return std::string(name);
  refuse_chart(fmt::format("found figure {}, allowed one of {}{}", quote(name), joined(views(known)),
                           hint(name, views(known))));
}

/// Returns the name of a row's line: its experiment, and the values of the other keys.
std::string line_name(const Comparison& comparison, const ComparedRow& row, std::size_t x) {
  std::string name = comparison.several ? printable(row.name) : "";
  const std::vector<std::string> names = short_names(comparison.keys);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i == x || row.varied[i].empty()) continue;
    const std::string value = printable(row.varied[i]);
    name += (name.empty() ? "" : ", ") + (numeric(row.varied[i]) ? names[i] + " " + value : value);
  }
  return name;
}

/// The least and the largest value of the key.
std::pair<double, double> extent_of(const Comparison& comparison, std::size_t x) {
  std::set<double> values{};
  for (const ComparedRow& row : comparison.rows) {
    if (const auto value = numeric(row.varied[x])) values.insert(*value);
  }
  return values.empty() ? std::pair(0.0, 0.0) : std::pair(*values.begin(), *values.rbegin());
}

}  // namespace

ChartLines chart_lines(const Comparison& comparison, std::string_view axes) {
  const auto colon = axes.find(':');
  const std::string_view y = colon == std::string_view::npos ? "" : axes.substr(colon + 1);
  const std::size_t x = x_key(comparison, axes.substr(0, colon));
  ChartLines chart{comparison.keys[x], y_figure(comparison, y), {}};
  const auto extent = extent_of(comparison, x);
  for (const ComparedRow& row : comparison.rows) {
    const std::string name = line_name(comparison, row, x);
    auto line = std::ranges::find(chart.lines, name, &ChartLine::name);
    if (line == chart.lines.end()) line = chart.lines.insert(line, ChartLine{name, {}});
    const auto value = row.feasible() ? figure_of(row, chart.y) : std::nullopt;
    if (!value) continue;
    if (row.varied[x].empty()) {  // the same all along
      const auto [least, most] = extent;
      line->points.insert(line->points.end(), {{least, *value}, {most, *value}});
      continue;
    }
    line->points.emplace_back(*numeric(row.varied[x]), *value);
  }
  for (ChartLine& line : chart.lines)
    std::ranges::stable_sort(line.points, {}, &std::pair<double, double>::first);
  return chart;
}

bool deserves_chart(const Comparison& comparison) {
  const auto first = first_numeric(comparison);
  if (!first) return false;
  std::set<std::string> values;
  for (const ComparedRow& row : comparison.rows) {
    if (row.feasible() && !row.varied[*first].empty()) values.insert(row.varied[*first]);
  }
  return values.size() >= 3;
}

}  // namespace orrery
