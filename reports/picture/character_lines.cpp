#include "reports/picture/character_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reports/picture/time_text.hpp"
#include "reports/text/text_table.hpp"

namespace orrery {
namespace {

constexpr int kColumnsOfWords = 40;  ///< narrower lines have the numbers of stages alone
constexpr int kFigureRoom = 9;       ///< for " 161.2 GB"
constexpr int kColumnsOfTick = 10;   ///< columns
constexpr int kLeastCells = 4;

int hex_byte(std::string_view colour, std::size_t at) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  return 16 * digit(colour[at]) + digit(colour[at + 1]);
}

/// Returns the step of xterm's colour cube, which has the levels 0, 95, 135, ..., 255.
int cube_step(int byte) { return byte < 48 ? 0 : byte < 115 ? 1 : (byte - 35) / 40; }

}  // namespace

CharacterLines::CharacterLines(const std::vector<StageRow>& rows, TimeWindow window, int columns)
    : window_(window), columns_(columns), words_(columns >= kColumnsOfWords), label_width_(0), cells_(0) {
  for (const StageRow& row : rows) label_width_ = std::max(label_width_, label(row).size());
  cells_ = std::max(kLeastCells, columns - (words_ ? kFigureRoom : 0) - static_cast<int>(label_width_));
}

std::string CharacterLines::figure(std::string_view text) { return fmt::format("{:>{}}", text, kFigureRoom); }

std::string CharacterLines::label(const StageRow& row) const {
  const std::string text = words_ ? row.name + " " : fmt::format("{} ", row.stage);
  return fmt::format("{:<{}}", text, label_width_);
}

std::string CharacterLines::axis() const {
  std::string line(label_width_ + static_cast<std::size_t>(cells_), ' ');
  std::size_t free = 0;
  for (const TimeTick& tick :
       time_ticks(window_.from_ps, window_.to_ps, std::max(1, cells_ / kColumnsOfTick))) {
    const auto cell =
        static_cast<std::size_t>(Int128{tick.at_ps - window_.from_ps} * cells_ / window_.length_ps());
    const std::size_t at = label_width_ + cell;
    if (at < free || at + tick.label.size() + 1 > line.size()) continue;
    line[at] = '|';
    line.replace(at + 1, tick.label.size(), tick.label);
    free = at + tick.label.size() + 2;
  }
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::string CharacterLines::list(const std::vector<std::string>& parts) const {
  return wrapped(fmt::format("{}", fmt::join(parts, ", ")), columns_);
}

std::string wrapped(std::string_view words, int columns) {
  std::string out;
  std::size_t used = 0;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    const std::size_t width = visible_width(word);
    const bool breaks = used > 0 && used + 1 + width > static_cast<std::size_t>(columns);
    if (used > 0) out += breaks ? "\n" : " ";
    used = breaks || used == 0 ? width : used + 1 + width;
    out += word;
    words.remove_prefix(std::min(words.size(), word.size() + 1));
  }
  return out + "\n";
}

std::string coloured(std::string_view text, Activity activity) {
  const std::string_view colour = style_of(activity).colour;
  const int red = hex_byte(colour, 1), green = hex_byte(colour, 3), blue = hex_byte(colour, 5);
  const int cube = 16 + 36 * cube_step(red) + 6 * cube_step(green) + cube_step(blue);
  const bool light = 299 * red + 587 * green + 114 * blue > 128'000;  // as bright as grey (ITU-R BT.601)
  return fmt::format("\x1b[48;5;{}m\x1b[38;5;{}m{}\x1b[0m", cube, light ? 16 : 231, text);
}

std::size_t visible_width(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const std::size_t escape = text.find('\x1b');
    plain += text.substr(0, escape);
    if (escape == std::string_view::npos) break;
    text.remove_prefix(std::min(text.size(), text.find('m', escape) + 1));
  }
  return text_width(plain);
}

}  // namespace orrery
