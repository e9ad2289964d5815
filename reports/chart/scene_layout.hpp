// Places the parts of a chart on its paper: title, legend, plot, axes, caption. Internal to reports/chart/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/chart/scene.hpp"
#include "reports/chart/scene_style.hpp"

namespace orrery {

struct SceneTick {
  double at = 0;  ///< in pixels
  std::string text;
};

/// Maps values of an axis to pixels.
class PlacedAxis {
 public:
  /// `low`, `high`: extent of the values. `from`, `to`: pixels of the lowest and of the highest.
  PlacedAxis(const SceneAxis& axis, double low, double high);
  void place(double from, double to);
  [[nodiscard]] bool takes(double value) const;
  [[nodiscard]] double at(double value) const;
  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }
  /// Returns labelled values, about `wanted` of them.
  [[nodiscard]] std::vector<SceneTick> ticks(int wanted) const;

 private:
  [[nodiscard]] double scaled(double value) const;

  const SceneAxis* axis_;
  double low_ = 0, high_ = 1;
  double from_ = 0, to_ = 1;
};

/// Describes an entry of the legend, at its place.
struct LegendEntry {
  enum class Kind : std::uint8_t { series, rule };
  Kind kind = Kind::series;
  std::size_t index = 0;
  double x = 0, y = 0;
  std::string text;
};

struct SceneLayout {
  SceneLayout(PlacedAxis of_x, PlacedAxis of_y) : x(of_x), y(of_y) {}

  PlacedAxis x, y;
  double left = 0, right = 0, top = 0, bottom = 0;  ///< of the plot
  double width = 0, height = 0;                     ///< of the picture
  std::string title;                                ///< as much as fits; "" for none
  std::vector<LegendEntry> legend;
  std::vector<std::string> caption;
  std::vector<SceneTick> x_ticks, y_ticks;
  double names_width = 0;  ///< of the labels of y
};

/// Returns true if the axes have a place for the rule: a logarithmic one has none for a limit of 0.
[[nodiscard]] bool is_on_paper(const SceneRule& rule, const SceneLayout& layout);

[[nodiscard]] SceneLayout layout_of(const ChartScene& scene, const SceneFormat& format);

}  // namespace orrery
