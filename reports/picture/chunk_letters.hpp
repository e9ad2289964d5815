// Chunks of a rank as letters, in whatever draws passes.
#pragma once

#include <cstdint>
#include <string>

namespace orrery {

/// a, b, ..., z, aa, ab, ...
[[nodiscard]] inline std::string chunk_letters(std::int64_t chunk) {
  std::string text;
  for (; chunk >= 0; chunk = chunk / 26 - 1) text.insert(text.begin(), static_cast<char>('a' + chunk % 26));
  return text;
}

}  // namespace orrery
