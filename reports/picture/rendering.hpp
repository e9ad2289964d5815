// Renders SVG to PNG and PDF, by librsvg and cairo where they are installed. They are loaded when one is
// asked for, so that nothing else needs them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "orrery/write.hpp"

namespace orrery {

enum class RenderedFormat : std::uint8_t { png, pdf };

/// Returns the format that the ending of a file's name asks for; nullopt for other endings.
[[nodiscard]] std::optional<RenderedFormat> rendered_format_of(std::string_view path);

/// @throws RunError where they are not there, with the Debian package that has them
void require_renderer(RenderedFormat format);

/// Two pixels for each one of the picture in a PNG, for dense screens; vectors and text in a PDF, 96 pixels
/// of the picture an inch. Equal pictures make equal bytes.
/// @throws RunError as require_renderer(), and where the SVG cannot be drawn
void write_rendered(RenderedFormat format, std::string_view svg, const Sink& sink);

}  // namespace orrery
