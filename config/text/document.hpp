// Parses a text, JSON or YAML, into a JSON value with the positions of its parts.
#pragma once

#include <string>
#include <string_view>

#include "config/text/json.hpp"
#include "config/text/position_table.hpp"
#include "orrery/error.hpp"

namespace orrery {

inline constexpr std::size_t kMaxTextBytes = 16'000'000;

enum class Syntax { json, yaml };

struct Document {
  std::string_view text;  ///< owned by the caller
  Syntax syntax = Syntax::json;
  Json value;
};

/// Reads `text`; JSON when it looks like it, else YAML. A source that ends in .yaml or .yml may also be
/// a YAML flow mapping. Throws InputError with one diagnostic.
Document parse_document(std::string_view text, const std::string& source);

/// Fills in the offsets of the pointers that `table` wants.
void find_positions(const Document& document, PositionTable& table);

/// Sets line and column (characters from 1) of `diagnostic` to those of a byte offset in `text`.
void set_position(Diagnostic& diagnostic, std::string_view text, std::size_t offset);

/// The whole file, or standard input for "-". Throws InputError when it cannot be read or is too long.
std::string read_text(const std::string& path, std::size_t most_bytes = kMaxTextBytes);

}  // namespace orrery
