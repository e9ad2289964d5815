// Reads lengths on paper from the command line, such as 3.33in or 240pt.
#pragma once

#include <string>

namespace orrery {

/// Returns pixels of 1/96 inch, the nearest number of them: of "320" and "320px", of lengths in in, cm, mm
/// and pt, of "column" (3.33 inches, a column of a paper in two) and "page" (7 inches, the text of a paper in
/// one).
/// @throws InputError naming `option` for anything else, and for less than `least` or more than `most` pixels
[[nodiscard]] int parse_paper_length(const std::string& text, const std::string& option, int least, int most);

}  // namespace orrery
