// Writes text in pictures: user text, safe in XML and not longer than its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace orrery {

/// Returns `text` on one line, at most `columns` (at least 1) wide, with an ellipsis if it was longer.
/// Control characters and invalid UTF-8 are escaped as on a terminal; letters of East Asia and emoji take two
/// columns.
[[nodiscard]] std::string cut_text(std::string_view text, std::size_t columns);

/// `text`, which is one line of UTF-8, as content of an XML element or attribute. Characters that XML has no
/// place for become U+FFFD.
[[nodiscard]] std::string xml_text(std::string_view text);

/// Hundredths as a decimal number without trailing zeros: "12.5".
[[nodiscard]] std::string hundredths(std::int64_t value);

}  // namespace orrery
