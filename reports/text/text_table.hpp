// Writes tables in characters, for all commands that print rows.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

/// Columns that a text takes on a terminal: characters, not bytes.
[[nodiscard]] std::size_t text_width(std::string_view text);

/// Rows of cells under headers. Columns of numbers stand to the right.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> headers) : headers_(std::move(headers)) {}

  /// Adds a row with as many cells as headers.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Lines with two blanks before each column.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::string> headers_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace orrery
