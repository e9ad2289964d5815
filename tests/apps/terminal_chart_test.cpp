#include "apps/terminal_chart.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace orrery::test {

TEST_CASE("a straight line is a diagonal of dots between labelled ends") {
  Chart chart{"Title", "x [s]", "y [m]", false, false, 8, 4, {{"line", {{0, 0}, {10, 10}}}}};
  CHECK(draw_chart(chart) ==
        "Title\n"
        "y [m]\n"
        "10 ┤      ⡠⠊\n"
        "   │    ⡠⠊\n"
        "   │  ⡠⠊\n"
        " 0 ┤⡠⠊\n"
        "   └┬──────┬\n"
        "    0     10\n"
        "     x [s]\n");
}

TEST_CASE("several curves carry letters and have a legend") {
  Chart chart{"", "t", "loss", false, true, 40, 8, {}};
  chart.series.push_back({"slow", {}});
  chart.series.push_back({"fast", {}});
  for (int t = 0; t <= 40; ++t) {
    chart.series[0].points.emplace_back(t, std::exp(-0.05 * t));
    chart.series[1].points.emplace_back(t, std::exp(-0.3 * t));
  }
  const std::string text = draw_chart(chart);
  CHECK(text.find("a  slow\n") != std::string::npos);
  CHECK(text.find("b  fast\n") != std::string::npos);
  CHECK(text.find("1e-05") != std::string::npos);
  for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
    CHECK(text[text.find('\n', begin) - 1] != ' ');
  }
}

TEST_CASE("points no axis can show are left out") {
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  Chart chart{"t", "", "", true, true, 20, 5, {{"", {{0, 1}, {1, -1}, {nothing, 1}, {1, nothing}}}}};
  CHECK(draw_chart(chart) == "t\n(nothing to draw)\n");
  chart.series[0].points.emplace_back(10, 3);
  CHECK(draw_chart(chart).find("(nothing") == std::string::npos);
}

}  // namespace orrery::test
