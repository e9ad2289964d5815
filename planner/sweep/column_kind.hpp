// Finds the type that all values of a column have. Internal to sweep/.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/result/result_row.hpp"

namespace orrery {

/// `unknown` before the first value; `text` also where types are mixed.
enum class ColumnKind : std::uint8_t { unknown, flag, count, number, text };
inline constexpr std::array<std::string_view, 5> kColumnKindNames{"unknown", "flag", "count", "number",
                                                                  "text"};
/// SQLite declares columns by these types, but they hold values of any type all the same.
inline constexpr std::array<std::string_view, 5> kColumnTypes{"", "BOOLEAN", "INTEGER", "REAL", "TEXT"};

/// Returns the kind of that name; a wrong name gives unknown.
[[nodiscard]] ColumnKind column_kind(std::string_view name);
[[nodiscard]] ColumnKind kind_of(const ResultScalar& value);
/// Returns a kind that has room for the values of both.
[[nodiscard]] ColumnKind common_kind(ColumnKind a, ColumnKind b);

/// The value of an override's text: a number or flag where it is one, nothing for "", else the text.
[[nodiscard]] ResultScalar scalar_of_text(const std::string& text);
/// Returns the kind that fits all values of a key.
[[nodiscard]] ColumnKind kind_of_texts(const std::vector<std::string>& texts);
/// The value of an override's text in a column of a kind.
[[nodiscard]] ResultScalar scalar_of_text(const std::string& text, ColumnKind kind);

}  // namespace orrery
