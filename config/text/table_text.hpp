// Cells of tables that other programs write: values of a line of CSV, numbers, dates.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

namespace orrery {

/// Returns the text without blanks and quotes around it.
[[nodiscard]] std::string_view trimmed_cell(std::string_view text);

/// Splits a line at its commas; the cells are trimmed.
void split_cells(std::string_view line, std::vector<std::string_view>& cells);

/// Returns the number that the whole text is.
template <class Number>
[[nodiscard]] std::optional<Number> number_of_cell(std::string_view text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || text.empty()) return std::nullopt;
  return number;
}

/// Returns the seconds since 1970 of a text such as 2023-11-16 18:15:46.6805900 or
/// 2024-05-10 00:00:00.009930+00:00; one without a zone is UTC.
[[nodiscard]] std::optional<double> seconds_of_date(std::string_view text);

}  // namespace orrery
