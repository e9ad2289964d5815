// Parses JSON text, with // and /* */ comments, to a JSON value.
#pragma once

#include <string_view>

#include "config/text/json.hpp"
#include "config/text/position_table.hpp"

namespace orrery {

/// Returns true if the first character that is neither blank nor in a comment opens an object or a list.
bool looks_like_json(std::string_view text);

/// Throws DocumentError.
Json parse_json(std::string_view text);

/// Offsets of the wanted pointers in JSON text that `parse_json` read, or read up to a duplicate key
/// or a limit.
void find_json_positions(std::string_view text, PositionTable& table);

}  // namespace orrery
