// JSON text, with // and /* */ comments, to a JSON value.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sim/io/json.hpp"
#include "sim/io/position_table.hpp"

namespace orrery {

/// Whether the first character that is neither blank nor in a comment opens an object or a list.
bool looks_like_json(std::string_view text);

/// Throws DocumentError.
Json parse_json(std::string_view text);

/// A number, text, true, false or null in JSON text.
struct JsonScalar {
  std::size_t begin = 0;  ///< bytes of the text [begin, end)
  std::size_t end = 0;
  Json* value = nullptr;
  const std::string* part = nullptr;  ///< the key of the document that it lies under
};

/// Those of `value`, an object that parse_json() read from `text`, as they follow each other there; none
/// where a key is written with escapes.
std::vector<JsonScalar> json_scalars(std::string_view text, Json& value);

/// Offset after the text or word that begins at `at`.
std::size_t token_end(std::string_view text, std::size_t at);

/// Offsets of the wanted pointers in JSON text that `parse_json` read, or read up to a duplicate key
/// or a limit.
void find_json_positions(std::string_view text, PositionTable& table);

}  // namespace orrery
