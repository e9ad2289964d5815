// Reads the JSON that programs write, several times as fast as a parser of all of it.
#pragma once

#include <optional>
#include <string_view>

#include "config/text/json.hpp"

namespace orrery {

/// The value of a short text of objects, lists, texts without escapes, integers and literals. Nothing where
/// it is anything else, right or wrong: then a parser that knows all of JSON is to be asked.
[[nodiscard]] std::optional<Json> parse_plain_json(std::string_view text);

}  // namespace orrery
