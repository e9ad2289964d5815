// Packs the numbers of a column: neighbours by their differences, bytes of one weight together, deflated. The
// times of a run shrink to a hundredth.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "reports/page/page.hpp"

namespace orrery {

struct PackedColumn {
  std::string bytes;         ///< raw deflate (RFC 1951)
  bool differences = false;  ///< each number is the difference to the one before it
};

/// Returns the column as the pages' core.js unpacks it, to the bit. Numbers stand as they are, without
/// differences, if one of them is no integer from 0 to 2^52.
[[nodiscard]] PackedColumn packed(const PageColumn& column);

/// Returns the bytes of a number in an array of JavaScript, such as 8 of a Float64Array.
[[nodiscard]] std::size_t bytes_of_number(std::string_view array_type);

}  // namespace orrery
