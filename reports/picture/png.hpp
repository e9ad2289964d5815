// Converts SVG to PNG, by librsvg and cairo where they are installed. They are loaded when a PNG is asked
// for, so that nothing else needs them.
#pragma once

#include <string_view>

#include "orrery/write.hpp"

namespace orrery {

/// @throws RunError where they are not there, with the Debian package that has them
void require_png_writer();

/// Two pixels for each one of the picture, for dense screens.
/// @throws RunError as require_png_writer(), and where the SVG cannot be drawn
void write_png(std::string_view svg, const Sink& sink);

}  // namespace orrery
