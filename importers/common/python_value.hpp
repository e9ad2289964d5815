// Values as Python prints them, and as command lines have them.
#pragma once

#include <string_view>

#include "config/text/json.hpp"

namespace orrery::importers {

/// Returns None, True, 4096, 1e-05, 'text' or [1, 2] as a value; anything else as the text that it is.
[[nodiscard]] Json python_value(std::string_view text);

/// Returns a word of a command line as a value: true, 4096, 1e-05, or text.
[[nodiscard]] Json word_value(std::string_view word);

}  // namespace orrery::importers
