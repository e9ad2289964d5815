// Converts YAML text to a JSON value: scalars by the YAML 1.2 core rules, no aliases, no tags but !!str.
#pragma once

#include <string_view>

#include "config/text/json.hpp"
#include "config/text/position_table.hpp"

namespace orrery {

/// YAML costs yaml-cpp some 100 bytes of memory per byte of text, hence a limit below that of JSON.
inline constexpr std::size_t kMaxYamlBytes = 1'000'000;

/// The value of a plain (unquoted) scalar: null, a flag, a number or text.
Json plain_scalar(std::string_view text);

/// The first and only document of `text`; fills `table` if there is one. Throws DocumentError.
Json parse_yaml(std::string_view text, PositionTable* table = nullptr);

}  // namespace orrery
