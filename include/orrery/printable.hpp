// Prints text of a user on one line of a terminal. Used by all code that prints names, keys and file names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace orrery {

/// A character of UTF-8 text.
struct Character {
  std::size_t bytes = 0;    ///< 0 where the text does not go on with valid UTF-8
  char32_t code_point = 0;  ///< of valid UTF-8
};

/// The first character of `text`, which is not empty. Overlong forms and surrogates are not valid.
inline Character first_character(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {1, lead};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
  const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return {};
  char32_t code_point = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xBF) return {};
    code_point = code_point << 6U | (byte(i) & 0x3FU);
  }
  return {length, code_point};
}

/// Returns true if a terminal acts on the character instead of showing it: control characters, line and
/// paragraph separators, marks that change the direction of text (Unicode TR 36), and the byte order mark.
constexpr bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x61C || c == 0x200E || c == 0x200F ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

/// "\x1b" for a byte, "\u202e" for a character above 0xFF.
inline std::string escaped(char32_t code) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digits;
  const int count = code > 0xFF ? 4 : 2;
  for (int i = count - 1; i >= 0; --i) digits += kDigits[(code >> (4U * static_cast<unsigned>(i))) & 0xFU];
  return (count == 4 ? "\\u" : "\\x") + digits;
}

/// `text` with the characters escaped that a terminal would act on, and the bytes that are no UTF-8.
inline std::string one_line(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character next = first_character(text);
    const std::size_t bytes = next.bytes == 0 ? 1 : next.bytes;
    if (next.bytes == 0) {
      out += escaped(static_cast<unsigned char>(text[0]));
    } else if (is_control(next.code_point)) {
      out += escaped(next.code_point);
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return out;
}

}  // namespace orrery
