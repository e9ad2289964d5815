#include "reports/chart/picture_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "orrery/printable.hpp"

namespace orrery {
namespace {

/// Thousandths of the font's size, from the space on (Adobe's metrics of Helvetica).
constexpr std::array<std::uint16_t, 95> kHelvetica{
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333,  278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667,  611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278,  556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500,  500, 334, 260, 334, 584};
constexpr double kRoomForOtherFonts = 1.1;
constexpr char32_t kFirstEastAsian = 0x1100;  // letters of East Asia

double thousandths_of(char32_t c) {
  if (c >= 32 && c < 127) return kHelvetica[c - 32];
  return c >= kFirstEastAsian && !(c >= 0x2000 && c < 0x2E80) ? 1000 : 580;
}

}  // namespace

double picture_text_width(std::string_view text, double size) {
  double thousandths = 0;
  while (!text.empty()) {
    const Character next = first_character(text);
    thousandths += thousandths_of(next.code_point);
    text.remove_prefix(next.bytes == 0 ? 1 : next.bytes);
  }
  return thousandths * size * kRoomForOtherFonts / 1000;
}

std::vector<std::string> picture_text_lines(std::string_view text, double width, double size) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word(text.substr(begin, end - begin));
    begin = end + 1;
    if (word.empty()) continue;
    if (!lines.empty() && picture_text_width(lines.back() + " " + word, size) <= width) {
      lines.back() += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

std::string fitting_picture_text(std::string_view text, double width, double size) {
  if (picture_text_width(text, size) <= width) return std::string(text);
  const double room = width - picture_text_width("…", size);
  std::size_t kept = 0;
  while (kept < text.size()) {
    const Character next = first_character(text.substr(kept));
    const std::size_t end = kept + (next.bytes == 0 ? 1 : next.bytes);
    if (picture_text_width(text.substr(0, end), size) > room) break;
    kept = end;
  }
  return std::string(text.substr(0, kept)) + "…";
}

}  // namespace orrery
