// Reads the contents of a page: its data and its columns of doubles, as its scripts read them.
#pragma once

#include <zlib.h>

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

/// The bytes of a column, as core.js unpacks it.
inline std::string unpacked(std::string_view html, const std::string& name, std::size_t width) {
  const std::string mark = "data-name=\"" + name + "\"";
  const std::size_t at = html.find(mark);
  if (at == std::string_view::npos) return "";
  const std::string_view tag = html.substr(at, html.find('>', at) - at);
  const std::size_t size = std::stoul(std::string(tag.substr(tag.find("data-bytes=\"") + 12)));
  std::string packed = bytes_of_base64(text_behind(html, mark));
  std::string weights(size, '\0');
  z_stream stream{};
  inflateInit2(&stream, -15);
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(weights.data());
  stream.avail_out = static_cast<uInt>(weights.size());
  inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  std::string bytes;
  const std::size_t count = size / width;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t weight = 0; weight < width; ++weight) bytes += weights[weight * count + i];
  return bytes;
}

inline bool has_differences(std::string_view html, const std::string& name) {
  const std::size_t at = html.find("data-name=\"" + name + "\"");
  return html.substr(at, html.find('>', at) - at).find("data-differences") != std::string_view::npos;
}

/// A column of a type, on a machine whose least byte comes first; empty where there is none.
template <class Number>
std::vector<Number> column_of(std::string_view html, const std::string& name) {
  const std::string bytes = unpacked(html, name, sizeof(Number));
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  if (numbers.empty()) return numbers;
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(Number));
  if (has_differences(html, name))
    for (std::size_t i = 1; i < numbers.size(); ++i)
      numbers[i] = static_cast<Number>(numbers[i] + numbers[i - 1]);
  return numbers;
}

}  // namespace orrery::page_test
