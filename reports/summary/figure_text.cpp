#include "reports/summary/figure_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "orrery/printable.hpp"

namespace orrery {

std::string scaled(double value) {
  constexpr std::array<std::string_view, 6> kPrefixes{"", " k", " M", " B", " T", " P"};
  std::size_t prefix = 0;
  while (value >= 999.5 && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  const bool whole = prefix == 0 && value == static_cast<double>(static_cast<std::int64_t>(value));
  return fmt::format("{:.{}f}{}", value, whole ? 0 : decimals, kPrefixes[prefix]);
}

std::string three_digits(double value) {
  return value < 1000 ? fmt::format("{:.3g}", value) : fmt::format("{:.0f}", value);
}

std::string duration(double seconds) {
  if (seconds >= 1 || seconds <= 0) return fmt::format("{:.3f} s ", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.3f} us", seconds * 1e6);
}

std::string bar(double share, int cells) {
  constexpr std::array<std::string_view, 8> kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int eighths = static_cast<int>(std::clamp(share, 0.0, 1.0) * cells * 8 + 0.5);
  std::string out;
  for (int i = 0; i < eighths / 8; ++i) out += "█";
  return out + std::string(kEighths[static_cast<std::size_t>(eighths % 8)]);
}

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::size_t prefix_of(std::string_view text, std::size_t columns) {
  std::size_t bytes = 0;
  for (; columns > 0 && bytes < text.size(); --columns)
    bytes += std::max<std::size_t>(1, first_character(text.substr(bytes)).bytes);
  return bytes;
}

std::string shortened(std::string_view text, std::size_t columns) {
  const std::string whole = one_line(text);
  if (columns_of(whole) <= columns) return whole;
  return whole.substr(0, prefix_of(whole, columns - 3)) + "...";
}

}  // namespace orrery
