// Describes a chart for papers, slides and pages: axes, series, bars, a heat map, lines of reference, and the
// caption. It knows nothing of pixels; write_scene() draws it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace orrery {

enum class AxisScale : std::uint8_t {
  linear,
  logarithmic,
  names,  ///< value i lies at the i-th name
};

struct SceneAxis {
  std::string label;  ///< with its unit
  AxisScale scale = AxisScale::linear;
  std::vector<std::string> names{};  ///< of AxisScale::names
  std::vector<double> ticks{};       ///< empty: round values
  bool from_zero = false;            ///< the axis reaches 0
};

enum class SeriesMark : std::uint8_t {
  points,
  line,
  line_with_points,
  steps,  ///< a value holds until the next one
  cloud,  ///< many points in grey, darker where they are dense
  bars,   ///< from left to right, x long and at y; of several series behind each other
  areas,  ///< y high from each x to the next; of several series, with the same x, above each other
};

struct SceneSeries {
  std::string name;  ///< in the legend; "" for none
  SeriesMark mark = SeriesMark::points;
  std::vector<std::pair<double, double>> points;
};

enum class RuleKind : std::uint8_t { horizontal, vertical, diagonal };

/// A line of reference: a limit, a target, or where two figures are equal.
struct SceneRule {
  RuleKind kind = RuleKind::horizontal;
  double at = 0;         ///< of a diagonal: y / x
  std::string name;      ///< in the legend; "" for none
  bool is_main = false;  ///< drawn whole, not dashed
};

/// Text beside a point.
struct SceneLabel {
  double x = 0;
  double y = 0;
  std::string text;
};

/// Cells of two axes with names.
struct SceneMap {
  std::vector<std::optional<double>> values;  ///< by row, from the top; in it by column
  std::string label;                          ///< of the values, with their unit
  bool less_is_better = true;                 ///< the best are dark
};

struct ChartScene {
  std::string title;
  std::string caption;  ///< units and conditions
  SceneAxis x{};
  SceneAxis y{};
  std::vector<SceneSeries> series{};
  std::vector<SceneRule> rules{};
  std::vector<SceneLabel> labels{};
  std::optional<SceneMap> map{};
  bool equal_scales = false;  ///< x and y reach from and to the same values on a square
};

}  // namespace orrery
