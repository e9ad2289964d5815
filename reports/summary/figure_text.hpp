// Figures and names as summaries print them. Internal to reports/.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace orrery {

/// 1234567 as 1.23 M; three significant digits.
[[nodiscard]] std::string scaled(double value);
/// Three digits or more, never an exponent for large numbers.
[[nodiscard]] std::string three_digits(double value);
/// Seconds in the unit that suits them.
[[nodiscard]] std::string duration(double seconds);
/// A bar for a share of 0..1 of `cells` cells, in eighths of a cell.
[[nodiscard]] std::string bar(double share, int cells);
/// Columns that `text` takes: a character each, as names here have neither wide nor combining ones as a rule.
[[nodiscard]] std::size_t columns_of(std::string_view text);
/// Bytes of the first `columns` characters, or of all.
[[nodiscard]] std::size_t prefix_of(std::string_view text, std::size_t columns);
/// The first `columns` characters of `text` on one line, with "..." where there are more.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t columns);

}  // namespace orrery
