// Bytes as text (RFC 4648, section 4), and numbers as the bytes that a typed array of JavaScript reads.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace orrery {

[[nodiscard]] std::string base64(std::string_view bytes);

/// The numbers one after the other, the least byte of each first, on every machine.
template <class Number>
requires std::integral<Number> || std::floating_point<Number>
[[nodiscard]] std::string little_endian(std::span<const Number> numbers) {
  using Piece = std::array<char, sizeof(Number)>;
  std::string out;
  out.reserve(numbers.size_bytes());
  for (const Number number : numbers) {
    const auto bytes = std::bit_cast<Piece>(number);
    if constexpr (std::endian::native == std::endian::little) {
      out.append(bytes.data(), bytes.size());
    } else {
      out.append(bytes.rbegin(), bytes.rend());
    }
  }
  return out;
}

}  // namespace orrery
