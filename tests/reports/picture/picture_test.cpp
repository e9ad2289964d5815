#include "reports/picture/picture.hpp"

#include <doctest/doctest.h>

#include "orrery/error.hpp"
#include "reports/picture/rendering.hpp"
#include "reports/picture/stage_rows.hpp"
#include "tests/reports/picture/tiny_run.hpp"

namespace orrery::test {
namespace {

std::string picture_of(const TinyRun& run, const PictureOptions& options = {},
                       std::string_view name = "tiny") {
  Report report = run.report();
  report.name = name;
  std::string text;
  write_picture(run.view(), run.grid(), report, options, [&text](std::string_view part) { text += part; });
  return text;
}

/// 304 pixels of 0 to 100 ms, so that a ms is 3.04 pixels.
constexpr std::string_view kRowOfStage0 =
    R"svg(<text class="l" x="8" y="68">stage 0</text><text class="m" x="8" y="81">rank 0</text>
<rect class="w" x="76" y="56" width="304" height="22"/>
<path class="a0" stroke-width="22" d="M76 67h121.6"/>
<path class="a1" stroke-width="22" d="M288.8 67h30.4"/>
<path class="a2" stroke-width="22" d="M319.2 67h60.8"/>
<path class="e" d="M136.8 56v22"/>
<g class="n" transform="translate(0,70)"><text x="106.4">0</text><text x="167.2">1</text><text x="334.4">0</text></g>
<path class="a6" stroke-width="6" d="M136.8 82h15.2"/>
)svg";

PictureOptions narrow(bool memory = false) {
  PictureOptions options;
  options.width = 400;
  options.memory = memory;
  return options;
}

PictureOptions part_of(std::vector<std::uint32_t> stages, Picoseconds from_ps, Picoseconds to_ps) {
  PictureOptions options = narrow();
  options.stages = std::move(stages);
  options.from_ps = from_ps;
  options.to_ps = to_ps;
  return options;
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string refusal_of(const TinyRun& run, const PictureOptions& options) {
  try {
    picture_of(run, options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the picture of a tiny run, stroke by stroke") {
  const TinyRun run;
  const std::string text = picture_of(run, narrow());
  CHECK(contains(text, kRowOfStage0));
  CHECK(contains(text, "<path class=\"a0\" stroke-width=\"22\" d=\"M152 108h60.8\"/>"));  // stage 1: 25-45 ms
  CHECK(contains(text, "<title id=\"title\">tiny: a step of 100 ms</title>"));
  CHECK(contains(text, "stage 0 70.0 %, stage 1 40.0 %.</desc>"));
  CHECK(contains(text, "messages between stages"));
  CHECK_FALSE(contains(text, "optimizer"));
  CHECK(text == picture_of(run, narrow()));
}

TEST_CASE("a window shows its part of the run, one behind the end leaves room") {
  const TinyRun run;
  const std::string text = picture_of(run, part_of({1}, 40 * TinyRun::kMs, 140 * TinyRun::kMs));
  CHECK(contains(text, "tiny: 40 ms to 140 ms of a step of 100 ms"));
  CHECK(contains(text, "one GPU of each of 1 of 2 pipeline stages"));
  CHECK(
      contains(text, "<rect class=\"w\" x=\"76\" y=\"56\" width=\"182.4\" height=\"22\"/>"));  // 60 ms of 100
  CHECK(contains(text, "d=\"M76 67h15.2\""));  // what is left of F0: 5 ms
  CHECK_FALSE(contains(text, ">stage 0<"));
}

TEST_CASE("memory has the scale of its limit and keeps every peak") {
  const TinyRun run;
  const std::string text = picture_of(run, narrow(true));
  // 24 pixels are 4 GB: 18 of them are 3 GB, from the beginning to the end, where 2 GB are given back
  CHECK(contains(text, "<path class=\"y\" d=\"M76 113v-18H380V113z\"/>"));
  CHECK(contains(text, "<path class=\"x\" d=\"M76 89H380\"/>"));
  CHECK(contains(text, ">3.0 GB</text>"));
  CHECK(contains(text, "memory and its limit of 4.0 GB"));
}

TEST_CASE("a hostile name stands in a picture as text, cut to its place") {
  const TinyRun run;
  CHECK(contains(picture_of(run, {}, "</title><script>x</script>\x1b"),
                 "<title id=\"title\">&lt;/title&gt;&lt;script&gt;x&lt;/script&gt;\\x1b: a step"));
  const std::string cut = picture_of(run, narrow(), std::string(10'000, '&'));
  CHECK(contains(cut, "&amp;…: a step of 100 ms"));
  CHECK(cut.size() < 10'000);
}

TEST_CASE("stages, times and widths that there are not are refused") {
  const TinyRun run;
  CHECK(refusal_of(run, part_of({0, 2}, 0, 0)) == "picture: found stage 2, allowed are stages from 0 to 1");
  CHECK(refusal_of(run, part_of({}, 200 * TinyRun::kMs, 0)) ==
        "picture: found a beginning at 200 ms, allowed are times before the end of the run at 100 ms");
  CHECK(refusal_of(run, part_of({}, 20, 10)) ==
        "picture: found an end at 10 ps, allowed are times behind the beginning at 20 ps");
  PictureOptions thin;
  thin.width = 10;
  CHECK(refusal_of(run, thin) == "picture: found a width of 10 pixels, allowed are 300 to 20000");
}

TEST_CASE("of many stages so many are drawn that lie evenly") {
  const auto drawn = drawn_stages({}, 512);
  CHECK(drawn.size() == kMostStages);
  CHECK(drawn.front() == 0);
  CHECK(drawn.back() == 511);
  CHECK(drawn_stages({}, 64).back() == 63);
  CHECK(drawn_stages(std::vector<std::uint32_t>{5, 3, 5}, 512) == std::vector<std::uint32_t>{3, 5});
}

TEST_CASE("a long run makes a short picture") {
  PipelineShape shape;
  shape.stages = 8;
  shape.micro_batches = 200;
  shape.layers = 12;
  RandomPipeline pipeline(shape, 7);
  Plan plan;
  plan.tensor_parallel = 2;
  plan.pipeline_parallel = 8;
  std::size_t size = 0;
  write_picture(pipeline.fixture.view(), RankGrid(plan), report_of(pipeline.fixture.view()), {},
                [&size](std::string_view part) { size += part.size(); });
  CHECK(size < 200'000);
  CHECK(size > 20'000);
}

TEST_CASE("a PNG and a PDF where librsvg is, else its name") {
  const TinyRun run;
  const auto rendered = [](RenderedFormat format, const std::string& svg) {
    std::string bytes;
    write_rendered(format, svg, [&bytes](std::string_view part) { bytes += part; });
    return bytes;
  };
  try {
    const std::string svg = picture_of(run, narrow());
    const std::string png = rendered(RenderedFormat::png, svg);
    CHECK(png.starts_with("\x89PNG\r\n"));
    CHECK(png.substr(18, 2) == "\x03\x20");  // 800 pixels wide, two for each
    const std::string pdf = rendered(RenderedFormat::pdf, svg);
    CHECK(pdf.starts_with("%PDF-"));
    CHECK(contains(pdf, "/MediaBox [ 0 0 300 "));  // points: 400 pixels of 96 an inch
    CHECK(pdf == rendered(RenderedFormat::pdf, svg));
    CHECK_THROWS_AS(rendered(RenderedFormat::png, "<svg"), RunError);
    CHECK_THROWS_AS(rendered(RenderedFormat::pdf, "<svg"), RunError);
  } catch (const RunError& error) {
    CHECK(contains(error.what(), "Debian package librsvg2-2"));
  }
}

}  // namespace orrery::test
