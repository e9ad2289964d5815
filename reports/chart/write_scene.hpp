// Draws a chart as SVG.
#pragma once

#include "orrery/write.hpp"
#include "reports/chart/scene.hpp"
#include "reports/chart/scene_style.hpp"

namespace orrery {

/// SVG that is readable on light and on dark pages, has no scripts and refers to nothing. Equal charts make
/// equal bytes. Values that their axis has no place for are left out.
/// @throws InputError for a width or a height out of bounds
void write_scene(const ChartScene& scene, const SceneFormat& format, const Sink& sink);

}  // namespace orrery
