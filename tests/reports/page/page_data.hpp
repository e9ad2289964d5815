// Reads the contents of a page: its data and its columns of doubles, as its scripts read them.
#pragma once

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::page_test {

inline std::string text_behind(std::string_view html, std::string_view mark) {
  const std::size_t at = html.find(mark);
  if (at == std::string_view::npos) return "";
  const std::size_t begin = html.find('>', at) + 1;
  return std::string(html.substr(begin, html.find("</script>", begin) - begin));
}

inline nlohmann::json data_of(std::string_view html) {
  return nlohmann::json::parse(text_behind(html, "id=\"data\""));
}

/// RFC 4648, section 4.
inline std::string bytes_of_base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char digit : text) {
    const std::size_t value = kDigits.find(digit);
    if (value == std::string_view::npos) break;  // padding
    bits = bits << 6U | static_cast<std::uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> static_cast<unsigned>(held) & 0xFFU);
  }
  return bytes;
}

/// A column of a type, on a machine whose least byte comes first; empty where there is none.
template <class Number>
std::vector<Number> column_of(std::string_view html, const std::string& name) {
  const std::string bytes = bytes_of_base64(text_behind(html, "data-name=\"" + name + "\""));
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(Number));
  return numbers;
}

}  // namespace orrery::page_test
