// Lines, words and numbers of files that are plain text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "importers/common/source_keys.hpp"

namespace orrery::importers {

struct TextLine {
  std::string_view text;  ///< without its end
  int number = 0;         ///< from 1
};

/// The lines are those of `file`, which must outlive them. @throws InputError where there are more than
/// 2,000,000
[[nodiscard]] std::vector<TextLine> lines_of(const SourceFile& file);
std::vector<TextLine> lines_of(SourceFile&&) = delete;
/// Returns the beginning of a file, by which its kind is told.
[[nodiscard]] SourceFile head_of(const SourceFile& file, std::size_t bytes);
/// Returns the parts between blanks and tabs.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text);
/// Returns `text` without blanks at its ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);
/// Returns `text` in small letters.
[[nodiscard]] std::string small(std::string_view text);

/// Returns the number that is the whole of `text`, finite; nothing otherwise.
[[nodiscard]] std::optional<double> number_of(std::string_view text);
[[nodiscard]] std::optional<std::int64_t> integer_of(std::string_view text);
/// Returns the number at the beginning of `text`, such as 32 of "32.0 GT/s".
[[nodiscard]] std::optional<double> leading_number(std::string_view text);

/// Returns `value` to six digits, as many as measurements have.
[[nodiscard]] double rounded(double value);

/// Returns a key that stands in `line`, for files that have no keys of their own.
[[nodiscard]] SourceKey key_at(const SourceFile& file, int line, std::string key, Json value);

}  // namespace orrery::importers
