// Gives the width of text, and fits text to a width.
#pragma once

#include <string>
#include <string_view>

namespace orrery {

/// Columns of the terminal that standard output is, at least 80; 80 where it is none.
[[nodiscard]] int text_columns();

/// `text` with lines of at most `columns` characters, broken at blanks where there are some. A line goes on
/// below its last column: where its last gap of two blanks or more ends, or at its own indent.
[[nodiscard]] std::string wrapped_lines(std::string_view text, int columns);

}  // namespace orrery
