// Values of files and command lines as numbers, flags and texts, with what may stand open in them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/text/json.hpp"

namespace orrery::importers {

/// Returns a whole number, also of a text such as 10_000 or a number such as 5e8.
[[nodiscard]] std::optional<std::int64_t> whole_number(const Json& value);
/// Returns a flag, also of the words of YAML 1.1, Python and shells.
[[nodiscard]] std::optional<bool> flag_of(const Json& value);
[[nodiscard]] std::string text_of(const Json& value);
/// Returns the first variable in a value that none has a value for: TP of "${TP}", "" where there is none.
[[nodiscard]] std::string unresolved_variable(const Json& value);

}  // namespace orrery::importers
