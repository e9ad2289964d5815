#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "planner/sweep/sweep.hpp"
#include "tests/planner/sweep/sweep_support.hpp"
#include "tests/reports/page/page_data.hpp"

namespace orrery {
namespace {

TEST_CASE("the page of a sweep has every point of the file, and what removed the others") {
  const ResultsFolder folder;
  Simulator simulator;
  static_cast<void>(sweep(swept_space(), swept_into(folder.file()), simulator));
  const ResultsTable results(folder.file(), 0);
  std::string html;
  write_sweep_page(results, "r.db", [&html](std::string_view text) { html += text; });
  const nlohmann::json data = page_test::data_of(html);
  const SweepSummary summary = results.summary();
  CHECK(data["points"] == 12);
  CHECK(data["plans"]["count"] == summary.valid());
  CHECK(data["better"]["mfu"] == "most");
  CHECK_FALSE(data["better"].contains("step_time_s"));
  std::uint64_t removed = 0;
  for (const auto& row : data["removed"]) removed += row["points"].get<std::uint64_t>();
  CHECK(removed == summary.removed_points());
  // The best step of the page is that of the file.
  const std::vector<std::uint64_t> best = results.best(parse_aim("step_time_s"), 1);
  const auto step = page_test::column_of<double>(html, "figure.step_time_s");
  const auto point = page_test::column_of<double>(html, "figure.point");
  REQUIRE(step.size() == summary.valid());
  for (std::size_t i = 0; i < step.size(); ++i) {
    if (point[i] != static_cast<double>(best.front())) continue;
    for (const double other : step) CHECK_FALSE(other < step[i]);
  }
}

}  // namespace
}  // namespace orrery
