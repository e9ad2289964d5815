// Parses CSV text (RFC 4180) into rows of cells with their positions. Used by
// studies/validate/ and studies/compare/.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

struct CsvCell {
  std::string text;  ///< without quotes, and without blanks around an unquoted cell
  int line = 1;
  int column = 1;  ///< in characters, from 1
};

using CsvRow = std::vector<CsvCell>;

/// Returns all rows; lines without text are left out, and those at the head that begin with #. Throws
/// InputError, located in `source`, for wrong quotes, invalid UTF-8, and more than a million cells.
std::vector<CsvRow> read_csv(std::string_view text, const std::string& source);

}  // namespace orrery
