// Draws the series of a chart: points, lines, clouds, bars, and the cells of a heat map. Internal to
// reports/chart/.
#pragma once

#include <string>
#include <vector>

#include "reports/chart/scene.hpp"
#include "reports/chart/scene_layout.hpp"

namespace orrery {

/// A length in pixels, to a tenth of one.
[[nodiscard]] std::string pixels(double value);

/// Returns the elements of one series that is neither bar nor area; `style` is its colour, mark and dashes.
[[nodiscard]] std::string drawn_series(const SceneSeries& series, std::size_t style,
                                       const SceneLayout& layout);
/// Returns the elements of all bars.
[[nodiscard]] std::string drawn_bars(const ChartScene& scene, const SceneLayout& layout);
/// Returns the elements of all areas.
[[nodiscard]] std::string drawn_areas(const ChartScene& scene, const SceneLayout& layout);
[[nodiscard]] std::string drawn_map(const ChartScene& scene, const SceneLayout& layout);
/// Returns the style of each series: clouds are grey and take none.
[[nodiscard]] std::vector<std::size_t> styles_of(const ChartScene& scene);

}  // namespace orrery
