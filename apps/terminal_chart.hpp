// Curves drawn with characters: Braille dots (two across, four down in each cell), and on every curve its
// letter, which the legend explains. Needs no colours and no terminal.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace orrery {

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< x and y, in order of x; joined by lines
};

struct Chart {
  std::string title;
  std::string x_label, y_label;  ///< with units
  bool log_x = false, log_y = false;
  int width = 72, height = 18;  ///< cells of the plot, without its axes
  std::vector<Series> series;
};

/// Lines of text, each ended. Points that are not finite, or not above 0 on a logarithmic axis, are left
/// out.
[[nodiscard]] std::string draw_chart(const Chart& chart);

}  // namespace orrery
