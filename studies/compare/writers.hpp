// Writes a comparison as text, JSON, CSV and a page, and as lines for a chart.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/chart/scene.hpp"
#include "reports/writers.hpp"
#include "studies/compare/compare.hpp"

namespace orrery {

/// A table of at most `width` columns of text, the answer first: columns that are alike in all rows move into
/// a line above it where there is no room, then the least important ones are left out. `colour`: use ANSI
/// colours.
void write_comparison_text(const Comparison& comparison, std::size_t width, bool colour, const Sink& sink);

/// {"rows": [{"name", "vary", ..., "result", "ratio"}]}, pretty-printed.
void write_comparison_json(const Comparison& comparison, const Sink& sink);

/// A page of HTML: the rows, where their time goes, and any two of them term by term.
void write_comparison_page(const Comparison& comparison, const Sink& sink);

/// Writes a header line and a line per row: the table's figures, in base units, then every number of the
/// result.
void write_comparison_csv(const Comparison& comparison, const Sink& sink);

/// Describes one line of a chart.
struct ChartLine {
  std::string name;                               ///< the other keys' values; "" where there are none
  std::vector<std::pair<double, double>> points;  ///< in the order of x
};

struct ChartLines {
  std::string x;  ///< the varied key
  std::string y;  ///< a figure's name
  std::vector<ChartLine> lines;
};

/// `axes` is X:Y, X: or :Y: a varied key (its last parts suffice) and a figure of the table's or the result's
/// JSON. Without X the first key with numbers is taken; without Y time_to_target_s where there is one, else
/// tokens_per_s_per_gpu when requests are served, samples_per_s if the number of GPUs changes along X, else
/// step_time_s. Rows that are not feasible have no point.
/// @throws InputError if there is no such key or figure.
[[nodiscard]] ChartLines chart_lines(const Comparison& comparison, std::string_view axes);

/// Returns true if a chart shows more than the table: the first key with numbers has at least three of them.
[[nodiscard]] bool deserves_chart(const Comparison& comparison);

/// Returns the chart of a picture: these lines, or without them the parts of each row's time, or its tokens
/// where requests are served.
[[nodiscard]] ChartScene comparison_scene(const Comparison& comparison,
                                          const std::optional<ChartLines>& lines);

}  // namespace orrery
