// Tests the ending of a file's name, which decides the format that is written to it.
#pragma once

#include <algorithm>
#include <string_view>

namespace orrery {

/// Returns true if `path` ends in `ending`, such as ".svg", in upper or lower case.
/// @param ending  in lower case
[[nodiscard]] constexpr bool has_ending(std::string_view path, std::string_view ending) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return path.size() >= ending.size() &&
         std::ranges::equal(path.substr(path.size() - ending.size()), ending, {}, lower);
}

}  // namespace orrery
