#include "apps/terminal_chart.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "reports/chart/chart_axis.hpp"

namespace orrery {
namespace {

constexpr int kDotsAcross = 2, kDotsDown = 4;
/// Dots of a Braille cell, from the top: left and right.
constexpr std::uint8_t kDots[kDotsDown][kDotsAcross] = {
    {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
/// Columns from one letter of a curve to its next.
constexpr int kLetterEvery = 24;

/// U+2800 + dots as UTF-8.
std::string braille(std::uint8_t dots) {
  if (dots == 0) return " ";
  const int code = 0x2800 + dots;
  return {static_cast<char>(0xE0 | (code >> 12)), static_cast<char>(0x80 | ((code >> 6) & 0x3F)),
          static_cast<char>(0x80 | (code & 0x3F))};
}

char letter_of(std::size_t series) { return static_cast<char>('a' + series % 26); }

class Canvas {
 public:
  Canvas(int width, int height)
      : width_(width),
        height_(height),
        dots_(static_cast<std::size_t>(width * height)),
        letters_(dots_.size()) {}
  [[nodiscard]] int dots_across() const { return width_ * kDotsAcross; }
  [[nodiscard]] int dots_down() const { return height_ * kDotsDown; }
  void dot(int x, int y) {
    dots_[cell(x / kDotsAcross, y / kDotsDown)] |= kDots[y % kDotsDown][x % kDotsAcross];
  }
  /// Dots from one to the other (Bresenham's line, by its longer side).
  void line(int x0, int y0, int x1, int y1) {
    const int steps = std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1});
    for (int i = 0; i <= steps; ++i) dot(x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps);
  }
  /// Puts a letter where the curve of this column is; a letter that is there already stays.
  void letter(int x, int y, char letter) {
    char& place = letters_[cell(x / kDotsAcross, y / kDotsDown)];
    if (place == 0) place = letter;
  }
  [[nodiscard]] std::string row(int y) const {
    std::string out;
    for (int x = 0; x < width_; ++x) {
      const char letter = letters_[cell(x, y)];
      out += letter != 0 ? std::string(1, letter) : braille(dots_[cell(x, y)]);
    }
    return out;
  }

 private:
  [[nodiscard]] std::size_t cell(int x, int y) const { return static_cast<std::size_t>(y * width_ + x); }
  int width_, height_;
  std::vector<std::uint8_t> dots_;
  std::vector<char> letters_;
};

struct Dot {
  int x, y;
};

class ChartText {
 public:
  explicit ChartText(const Chart& chart)
      : chart_(chart),
        x_(chart.log_x),
        y_(chart.log_y),
        canvas_(std::max(8, chart.width), std::max(4, chart.height)),
        width_(std::max(8, chart.width)),
        height_(std::max(4, chart.height)) {
    for (const Series& series : chart.series) {
      for (const auto& [x, y] : series.points) {
        if (!x_.takes(x) || !y_.takes(y)) continue;
        x_.include(x);
        y_.include(y);
      }
    }
  }

  std::string text() {
    std::string out = chart_.title.empty() ? "" : chart_.title + "\n";
    if (x_.empty()) return out + "(nothing to draw)\n";
    for (std::size_t i = 0; i < chart_.series.size(); ++i) draw(i);
    out += plot();  // finds the margin
    out += x_axis();
    return out + legend();
  }

 private:
  [[nodiscard]] int across(double x) const {
    return static_cast<int>(std::lround(x_.position(x) * (canvas_.dots_across() - 1)));
  }
  [[nodiscard]] int down(double y) const {
    return static_cast<int>(std::lround((1 - y_.position(y)) * (canvas_.dots_down() - 1)));
  }

  void draw(std::size_t index) {
    std::vector<Dot> dots;
    for (const auto& [x, y] : chart_.series[index].points) {
      if (x_.takes(x) && y_.takes(y)) dots.push_back({across(x), down(y)});
    }
    for (std::size_t i = 0; i < dots.size(); ++i) {
      const Dot& from = dots[i == 0 ? 0 : i - 1];
      canvas_.line(from.x, from.y, dots[i].x, dots[i].y);
    }
    add_letters(dots, index);
  }

  /// Letters of the curves are spaced alike, each curve's a little further on.
  void add_letters(const std::vector<Dot>& dots, std::size_t index) {
    if (dots.empty() || chart_.series.size() < 2) return;
    const auto shift = static_cast<int>((index * kLetterEvery) / chart_.series.size());
    for (int column = 4 + shift; column < width_; column += kLetterEvery) {
      const int x = column * kDotsAcross;
      for (std::size_t i = 1; i < dots.size(); ++i) {
        if (dots[i - 1].x > x || dots[i].x < x || dots[i].x == dots[i - 1].x) continue;
        const int run = dots[i].x - dots[i - 1].x;
        canvas_.letter(x, dots[i - 1].y + (dots[i].y - dots[i - 1].y) * (x - dots[i - 1].x) / run,
                       letter_of(index));
        break;
      }
    }
    canvas_.letter(dots.back().x, dots.back().y, letter_of(index));
  }

  std::string plot() {
    std::vector<std::string> labels(static_cast<std::size_t>(height_));
    for (const double tick : y_.ticks(std::max(1, height_ / 4))) {
      std::string& label = labels[static_cast<std::size_t>(down(tick) / kDotsDown)];
      if (label.empty()) label = ChartAxis::label(tick);
    }
    for (const std::string& label : labels) margin_ = std::max(margin_, label.size());
    std::string out = chart_.y_label.empty() ? "" : chart_.y_label + "\n";
    for (int row = 0; row < height_; ++row) {
      const std::string& label = labels[static_cast<std::size_t>(row)];
      out += std::string(margin_ - label.size(), ' ') + label + (label.empty() ? " │" : " ┤");
      out += canvas_.row(row);
      while (out.back() == ' ') out.pop_back();
      out += "\n";
    }
    return out;
  }

  [[nodiscard]] std::string x_axis() const {
    const auto width = static_cast<std::size_t>(width_);
    std::vector<bool> marked(width);
    std::string numbers(margin_ + 2 + width + 8, ' ');
    std::size_t free = 0;
    for (const double tick : x_.ticks(std::max(1, width_ / 12))) {
      const auto column = static_cast<std::size_t>(across(tick) / kDotsAcross);
      const std::string label = ChartAxis::label(tick);
      const std::size_t centre = margin_ + 2 + column;
      const std::size_t start = centre - std::min(centre, label.size() / 2);
      if (start < free || start + label.size() > numbers.size()) continue;
      marked[column] = true;
      numbers.replace(start, label.size(), label);
      free = start + label.size() + 1;
    }
    std::string out = std::string(margin_ + 1, ' ') + "└";
    for (const bool mark : marked) out += mark ? "┬" : "─";
    while (!numbers.empty() && numbers.back() == ' ') numbers.pop_back();
    out += "\n" + numbers + "\n";
    if (chart_.x_label.empty()) return out;
    const std::size_t spare = width > chart_.x_label.size() ? width - chart_.x_label.size() : 0;
    return out + std::string(margin_ + 2 + spare / 2, ' ') + chart_.x_label + "\n";
  }

  [[nodiscard]] std::string legend() const {
    if (chart_.series.size() < 2) return "";
    std::string out;
    for (std::size_t i = 0; i < chart_.series.size(); ++i) {
      out += std::string(margin_ + 2, ' ') + letter_of(i) + "  " + chart_.series[i].name + "\n";
    }
    return out;
  }

  const Chart& chart_;
  ChartAxis x_, y_;
  Canvas canvas_;
  int width_, height_;
  std::size_t margin_ = 0;
};

}  // namespace

std::string draw_chart(const Chart& chart) { return ChartText(chart).text(); }

}  // namespace orrery
