// Words of error messages: quoted values, lists of names, the nearest known name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/text/json.hpp"

namespace orrery {

/// `text` on one printable line: control characters and bytes outside UTF-8 escaped, cut after 60 bytes.
std::string printable(std::string_view text);

/// `text` printable and in double quotes.
std::string quote(std::string_view text);

/// A found value, short: 3, true, "text", [1,2], an object.
std::string described(const Json& value);

std::string joined(std::span<const std::string_view> names);

/// Edits (insert, delete, replace, swap neighbours) between two names, upper and lower case alike.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name nearest to `name`, else the shortest that begins with it, or "" when none is likely meant.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known);

/// `; did you mean "x"?`, or "" when no known name is near.
std::string hint(std::string_view name, std::span<const std::string_view> known);

/// Returns the names allowed in place of `name`, as the end of "found X": all if they are few, with the
/// nearest; if many, the nearest ones and `all`, the command that lists them. `what` says what they name and
/// may be "".
std::string names_allowed(std::string_view name, std::string_view what,
                          std::span<const std::string_view> known, std::string_view all);

/// The refusal of a name that the interface knows and nothing models.
std::string not_modelled_yet(std::string_view name, std::span<const std::string_view> available);

std::vector<std::string_view> views(const std::vector<std::string>& names);

/// Offset of the first byte that is no UTF-8, or npos.
std::size_t first_invalid_utf8(std::string_view text);

}  // namespace orrery
