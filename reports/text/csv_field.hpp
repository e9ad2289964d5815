// Writes a cell of a CSV table, for every writer of one.
#pragma once

#include <string>
#include <string_view>

namespace orrery {

/// The text as RFC 4180 wants it: in quotes, with quotes doubled, where it has separators, quotes or line
/// ends.
[[nodiscard]] inline std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  return out + '"';
}

}  // namespace orrery
