// Chooses scale and ticks of an axis by its values.
#pragma once

#include <span>
#include <string>

#include "reports/chart/scene.hpp"

namespace orrery {

/// Returns the axis of a key that was varied: a few whole numbers, such as degrees, have a tick each and no
/// others; they lie by their ratios where the largest is four times the least.
[[nodiscard]] SceneAxis axis_along(std::string label, std::span<const double> values);

/// Returns the axis of a figure: logarithmic where the largest value, all being above 0, is more than thirty
/// times the least; `from_zero`: else from 0, if the values come near.
[[nodiscard]] SceneAxis axis_of_figure(std::string label, std::span<const double> values, bool from_zero);

}  // namespace orrery
