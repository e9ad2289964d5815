// Tests pictures of serving runs: rows of replicas and stages with their iterations, and their memory.
#include "reports/picture/serving_picture.hpp"

#include <doctest/doctest.h>

#include "orrery/error.hpp"
#include "tests/reports/serving_records.hpp"

using namespace orrery;
using orrery::test::small_record;

namespace {

std::string serving_svg(const ServingRecord& record, const std::string& name, const PictureOptions& options) {
  Report report;
  report.name = name;
  std::string svg;
  write_serving_picture(record, report, options, [&svg](std::string_view part) { svg += part; });
  return svg;
}

bool has_text(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a picture of served requests has a row for each stage of each replica") {
  PictureOptions options;
  options.memory = true;
  const std::string svg = serving_svg(small_record(), "served", options);
  for (const char* part : {">replica 0<", ">replica 1<", ">stage 1<", ">prefill<", ">decode<",
                           ">prefill and decode<", "2 requests in 40", "limit of 0.7 GB"}) {
    CAPTURE(part);
    CHECK(has_text(svg, part));
  }
  CHECK(serving_svg(small_record(), "served", options) == svg);
}

TEST_CASE("texts in pictures of served requests stay texts") {
  const std::string svg = serving_svg(small_record(), "</svg><script>alert(1)</script>", {});
  CHECK_FALSE(has_text(svg, "<script"));
  CHECK(has_text(svg, "&lt;script"));
}

TEST_CASE("replicas in characters: letters of what is in iterations, and the cache") {
  CharacterOptions options;
  options.columns = 80;
  const std::string schedule = draw_serving_schedule(small_record(), options);
  for (const char* part : {"replica 0 stage 0", "P-", "D", "M", "P prefill", "dots: waiting"}) {
    CAPTURE(part);
    CHECK(has_text(schedule, part));
  }
  CHECK_FALSE(has_text(schedule, "micro-batch"));
  const std::string memory = draw_serving_memory(small_record(), options);
  CHECK(has_text(memory, "replica 1"));
  CHECK(has_text(memory, "full height: the limit of 0.7 GB"));
  CHECK(has_text(memory, "0.6 GB"));  // 0.5 and 4 pages of 16 MB
}

TEST_CASE("stages and times that there are not are refused") {
  PictureOptions options;
  options.stages = {2};
  CHECK_THROWS_AS(serving_svg(small_record(), "", options), InputError);
  options.stages = {};
  options.from_ps = 50'000;
  CHECK_THROWS_AS(serving_svg(small_record(), "", options), InputError);
}
