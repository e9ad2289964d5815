#include "reports/picture/svg_text.hpp"

#include <fmt/format.h>

#include "orrery/printable.hpp"

namespace orrery {
namespace {

constexpr std::string_view kEllipsis = "…";
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// From here on characters are two columns wide, as a rule (Unicode Standard Annex 11).
constexpr char32_t kFirstWide = 0x1100;

bool is_wide(char32_t c) { return c >= kFirstWide && !(c >= 0x2000 && c < 0x2E80); }

std::string_view escape_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    default:
      return "";
  }
}

}  // namespace

std::string cut_text(std::string_view text, std::size_t columns) {
  const std::string whole = one_line(text);
  std::size_t used = 0;
  std::size_t kept = 0;  // bytes that leave room for the ellipsis
  for (std::size_t at = 0; at < whole.size();) {
    const Character next = first_character(std::string_view(whole).substr(at));
    used += is_wide(next.code_point) ? 2 : 1;
    if (used > columns) return whole.substr(0, kept) + std::string(kEllipsis);
    at += next.bytes;
    if (used < columns) kept = at;
  }
  return whole;
}

std::string xml_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Character next = first_character(text);
    const std::string_view escape = escape_of(text[0]);
    if (!escape.empty()) {
      out += escape;
    } else if (next.bytes == 0 || (next.code_point & 0xFFFE) == 0xFFFE || next.code_point < 0x20) {
      out += kReplacement;
    } else {
      out += text.substr(0, next.bytes);
    }
    text.remove_prefix(next.bytes == 0 ? 1 : next.bytes);
  }
  return out;
}

std::string hundredths(std::int64_t value) {
  const std::int64_t size = value < 0 ? -value : value;
  std::string text = fmt::format("{}{}", value < 0 ? "-" : "", size / 100);
  if (size % 100 == 0) return text;
  text += fmt::format(".{:02}", size % 100);
  if (text.back() == '0') text.pop_back();
  return text;
}

}  // namespace orrery
