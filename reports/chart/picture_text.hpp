// Estimates the width of text in a picture, whose fonts are those of who looks at it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// Returns the width of `text`, which is UTF-8, in fonts of `size`: that of Helvetica, and a tenth more for
/// wider fonts.
[[nodiscard]] double picture_text_width(std::string_view text, double size);

/// Returns lines of at most `width`; a word that is longer is a line of its own.
[[nodiscard]] std::vector<std::string> picture_text_lines(std::string_view text, double width, double size);

/// Returns `text`, or as much of it as `width` has room for, with an ellipsis.
[[nodiscard]] std::string fitting_picture_text(std::string_view text, double width, double size);

}  // namespace orrery
