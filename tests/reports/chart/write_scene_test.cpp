#include "reports/chart/write_scene.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "orrery/error.hpp"
#include "reports/chart/key_label.hpp"
#include "reports/chart/picture_text.hpp"
#include "reports/chart/scene_axes.hpp"

namespace orrery::test {
namespace {

std::string drawn(const ChartScene& scene, SceneFormat format = {}) {
  std::string svg;
  write_scene(scene, format, [&svg](std::string_view text) { svg += text; });
  return svg;
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// Everything behind the styles, which are the same for all.
std::string body(const std::string& svg) { return svg.substr(svg.find("</style>\n") + 9); }

ChartScene degrees() {
  const std::vector<double> xs{1, 2, 4, 8};
  ChartScene scene{
      "Degrees", "Simulated, 4 rows. 8 GPUs.", axis_along("tensor parallel", xs), {"step time (s)"}};
  scene.y.from_zero = true;
  scene.series.push_back({"", SeriesMark::line_with_points, {{1, 8}, {2, 4}, {4, 2}, {8, 1}}});
  return scene;
}

}  // namespace

TEST_CASE("degrees have a tick each, as far from each other as their ratios") {
  SceneFormat format;
  format.width = 320;
  format.height = 200;
  const std::string svg = body(drawn(degrees(), format));
  for (const char* tick : {">1</text>", ">2</text>", ">4</text>", ">8</text>"})
    CHECK(svg.find(tick) != std::string::npos);
  CHECK(svg.find(">3</text>") == std::string::npos);
  // "8" is 0.556 x 9.33 x 1.1 = 5.7 wide: the plot goes from 8 + 14 + 5.7 + 4 + 3 = 34.7 to 306. The axis has
  // 3 % of its decades more on both sides, so a factor of 2 is 271.3 / 3 / 1.06 = 85.3 wide, and 1 stands at
  // 34.7 + 271.3 x 0.03 / 1.06 = 42.4. From 0 to 8 and 4 % more, 8 s are 110 / 1.04 = 105.8 above 140.
  CHECK(svg.find("<path class=\"d s0\" d=\"M42.4 34.2L127.7 87.1L213 113.6L298.3 126.8\"/>") !=
        std::string::npos);
}

TEST_CASE("areas lie above each other, hold until the next place, and have gaps where they are 0") {
  SceneFormat format;
  format.width = 200;
  format.height = 120;
  ChartScene scene{"", "", {"days"}, {"%", AxisScale::linear, {}, {0, 50, 100}, true}};
  scene.series.push_back({"", SeriesMark::areas, {{0, 100}, {1, 60}, {2, 100}, {3, 0}}});
  scene.series.push_back({"", SeriesMark::areas, {{0, 0}, {1, 40}, {2, 0}, {3, 0}}});
  const std::string svg = body(drawn(scene, format));
  // The first goes along its top over three places, and back; the second is one rectangle above the middle of
  // it.
  const std::size_t first = svg.find("<path class=\"f0\" d=\"");
  const std::size_t second = svg.find("<path class=\"f1\" d=\"");
  REQUIRE(first != std::string::npos);
  REQUIRE(second != std::string::npos);
  const std::string below = svg.substr(first, svg.find("/>", first) - first);
  const std::string above = svg.substr(second, svg.find("/>", second) - second);
  CHECK(count(below, "M") == 1);
  CHECK(count(below, "H") == 6);
  CHECK(count(above, "M") == 1);
  CHECK(count(above, "H") == 2);
  // Its bottom is where the first one's top is: both have the same height there.
  const auto height_behind = [](const std::string& path, const std::string& mark, std::size_t from) {
    return std::stod(path.substr(path.find(mark, from) + 1));
  };
  const std::size_t top_of_all = below.find('V');
  const std::size_t top_of_middle = below.find('V', top_of_all + 1);
  CHECK(height_behind(above, "V", 0) == height_behind(below, "V", 0));
  CHECK(std::stod(above.substr(above.find(' ', above.find("d=\"M")) + 1)) ==
        height_behind(below, "V", top_of_middle));
}

TEST_CASE("areas of nothing are no error") {
  ChartScene scene{"", "", {"days"}, {"%"}};
  scene.series.push_back({"a", SeriesMark::areas, {}});
  scene.series.push_back({"b", SeriesMark::areas, {{0, 0}}});
  CHECK(body(drawn(scene)).find("nan") == std::string::npos);
}

TEST_CASE("a small chart is drawn to the byte") {
  SceneFormat format;
  format.width = 200;
  format.height = 160;
  ChartScene scene{"T", "c", {"x"}, {"y"}};
  scene.series.push_back({"s", SeriesMark::line, {{0, 0}, {10, 5}}});
  scene.rules.push_back({RuleKind::horizontal, 5, "limit"});
  const std::string svg = drawn(scene, format);
  CHECK(svg.starts_with(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"200\" height=\"160\" viewBox=\"0 0 200 "
      "160\" role=\"img\">\n<title>T</title>\n<desc>y over x. s: 2 points. c</desc>\n<style>"));
  CHECK(drawn(scene, format) == svg);
  // The plot is 54 high and reaches from -0.2 to 5.2, so that 0 is at 100 - 54 x 0.2 / 5.4 = 98, and 5 at 48.
  CHECK(body(svg) == R"svg(<rect class="b" width="200" height="160"/>
<text class="t" x="8" y="18">T</text>
<path class="g" d="M40.3 46V100M110.4 46V100M180.4 46V100M34.7 98H186M34.7 78H186M34.7 58H186"/>
<path class="r" stroke-dasharray="4 3" d="M34.7 48H186"/>
<path class="d s0" d="M40.3 98L180.4 48"/>
<text class="m" text-anchor="middle" x="40.3" y="114">0</text>
<text class="m" text-anchor="middle" x="110.4" y="114">5</text>
<text class="m" text-anchor="middle" x="180.4" y="114">10</text>
<text class="m" text-anchor="end" x="28.7" y="101.3">0</text>
<text class="m" text-anchor="end" x="28.7" y="81.3">2</text>
<text class="m" text-anchor="end" x="28.7" y="61.3">4</text>
<path class="a" d="M34.7 46V100H186M40.3 100v4M110.4 100v4M180.4 100v4M34.7 98h-4M34.7 78h-4M34.7 58h-4"/>
<text class="l" text-anchor="middle" x="110.4" y="129">x</text>
<text class="l" text-anchor="middle" transform="translate(17,73) rotate(-90)">y</text>
<path class="d s0" d="M8 32.3h17"/>
<text class="m" x="29" y="35.3">s</text>
<path class="r" stroke-dasharray="4 3" d="M47.1 32.3h16"/>
<text class="m" x="68.1" y="35.3">limit</text>
<text class="m" x="8" y="144">c</text>
</svg>
)svg");
}

TEST_CASE("bars lie behind each other, with textures for grey printers") {
  ChartScene scene{"", "", {"GB"}, {}};
  scene.x.from_zero = true;
  scene.y.scale = AxisScale::names;
  scene.y.names = {"stage 0", "stage 1"};
  scene.series = {{"a", SeriesMark::bars, {{10, 0}, {5, 1}}}, {"b", SeriesMark::bars, {{30, 0}, {0, 1}}}};
  const std::string svg = body(drawn(scene));
  // a has two bars; b has one, since nothing is 0 long. Paths: a, b, and b's texture.
  CHECK(count(svg, "<path class=\"f0\"") == 2);  // the bars and the legend's sample
  CHECK(count(svg, "<path class=\"f1\"") == 2);
  CHECK(count(svg, "<path fill=\"url(#t1)\"") == 2);
  CHECK(svg.find("stage 1") != std::string::npos);
}

TEST_CASE("a heat map has a cell for each pair, grey without a value") {
  ChartScene scene{"", "", {"tp"}, {"pp"}};
  scene.x.scale = scene.y.scale = AxisScale::names;
  scene.x.names = {"1", "2"};
  scene.y.names = {"1", "4"};
  scene.map = SceneMap{{1.0, 2.0, std::nullopt, 3.0}, "least step time (s)", true};
  const std::string svg = body(drawn(scene));
  CHECK(count(svg, "<rect class=\"n\"") == 1);
  CHECK(count(svg, "<rect fill=\"#0a4480\"") == 1);  // the best: the least
  CHECK(count(svg, "<rect fill=\"#eef5fb\"") == 1);  // the worst
}

TEST_CASE("clouds are as large as their picture, not as their points") {
  ChartScene scene{"", "", {"x"}, {"y"}};
  SceneSeries cloud{"points", SeriesMark::cloud, {}};
  for (int i = 0; i < 200'000; ++i) cloud.points.emplace_back(i % 500, i / 500);
  scene.series.push_back(cloud);
  CHECK(drawn(scene).size() < 1'500'000);
}

TEST_CASE("values that an axis has no place for are left out") {
  ChartScene scene{"", "", {"x"}, {"y"}};
  scene.y.scale = AxisScale::logarithmic;
  scene.series.push_back({"", SeriesMark::line, {{0, 1}, {1, 0}, {2, NAN}, {3, INFINITY}, {4, 100}}});
  const std::string svg = drawn(scene);
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(svg.find("inf") == std::string::npos);
  CHECK(count(body(svg), "L") == 1);
}

TEST_CASE("a limit that a logarithmic axis has no place for is left out") {
  ChartScene scene{"", "", {"x"}, {"y"}};
  scene.y.scale = AxisScale::logarithmic;
  scene.series.push_back({"", SeriesMark::line, {{0, 1}, {4, 100}}});
  scene.rules = {{RuleKind::horizontal, 0, "a target of 0"}, {RuleKind::horizontal, 10, "ten"}};
  const std::string svg = drawn(scene);
  CHECK(svg.find("nan") == std::string::npos);
  CHECK(svg.find("a target of 0") == std::string::npos);
  CHECK(svg.find(">ten<") != std::string::npos);
}

TEST_CASE("nothing to draw is a chart without marks") {
  const ChartScene scene{"", "", {"x"}, {"y"}};
  CHECK(drawn(scene).find("nan") == std::string::npos);
}

TEST_CASE("names of strangers are text") {
  ChartScene scene = degrees();
  scene.title = "</title><script>alert(1)</script>\x07";
  scene.series.front().name = "<b>&\"";
  const std::string svg = drawn(scene);
  CHECK(svg.find("<script") == std::string::npos);
  CHECK(svg.find("&lt;b&gt;&amp;&quot;") != std::string::npos);
  CHECK(svg.find("\\x07") != std::string::npos);
}

TEST_CASE("sizes out of bounds are refused") {
  SceneFormat format;
  format.width = 20'001;
  CHECK_THROWS_WITH_AS(drawn(degrees(), format),
                       "picture: found a width of 20001 pixels, allowed are 160 to 20000", InputError);
}

TEST_CASE("keys have labels with units") {
  CHECK(key_label("step_time_s") == "step time (s)");
  CHECK(key_label("memory.peak_gb") == "memory peak (GB)");
  CHECK(key_label("ttft_s_p99") == "TTFT p99 (s)");
  CHECK(key_label("tokens_per_s_per_gpu") == "tokens/s/GPU");
  CHECK(key_label("plan.tensor_parallel") == "tensor parallel");
  CHECK(key_label("mfu") == "MFU");
  CHECK(key_label("s") == "s");
  CHECK(key_label("") == "");
}

TEST_CASE("numbers are written as people write them") {
  CHECK(chart_number(0.30000000000000004) == "0.3");
  CHECK(chart_number(100000) == "100000");
  CHECK(chart_number(1e-7) == "10⁻⁷");
  CHECK(chart_number(2.5e9) == "2.5·10⁹");
  CHECK(chart_number(-0.0) == "0");
}

TEST_CASE("text is broken at words, and cut where a word has no room") {
  // "aaaa" is 4 x 0.556 x 10 x 1.1 = 24.5 pixels wide.
  CHECK(picture_text_width("aaaa", 10) == doctest::Approx(24.464));
  CHECK(picture_text_lines("aaaa aaaa  aaaa", 60, 10) == std::vector<std::string>{"aaaa aaaa", "aaaa"});
  CHECK(picture_text_lines("", 60, 10).empty());
  CHECK(fitting_picture_text("aaaa", 25, 10) == "aaaa");
  CHECK(fitting_picture_text("aaaa", 24, 10) == "aa…");
}

}  // namespace orrery::test
