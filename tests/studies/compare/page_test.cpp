#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "tests/reports/page/page_data.hpp"
#include "tests/studies/compare/small_comparisons.hpp"

namespace orrery {
namespace {

using comparison_test::request;

std::string page_of(const Comparison& comparison) {
  std::string html;
  write_comparison_page(comparison, [&html](std::string_view text) { html += text; });
  return html;
}

TEST_CASE("the page of a comparison has the figures of its rows, and parts that add up to their steps") {
  const Comparison comparison = compare(request({"plan.tensor_parallel=1,2,5"}), 2);
  const std::string html = page_of(comparison);
  const nlohmann::json data = page_test::data_of(html);
  CHECK(data["reference"] == 0);
  CHECK(data["plans"]["count"] == 3);
  CHECK(data["plans"]["keys"][0]["key"] == "plan.tensor_parallel");
  CHECK(page_test::column_of<std::uint8_t>(html, "state") == std::vector<std::uint8_t>{0, 0, 2});
  const auto step = page_test::column_of<double>(html, "figure.step_time_s");
  const auto speed_up = page_test::column_of<double>(html, "figure.speed_up");
  for (const std::size_t i : {0U, 1U}) {
    CHECK(step[i] == comparison.rows[i].report->step_time_s());
    CHECK(speed_up[i] == comparison.rows[i].ratios->speed_up.value());
    double sum = 0;
    for (const auto& name : data["plans"]["parts"]["breakdown"])
      sum += page_test::column_of<double>(html, "breakdown." + name.get<std::string>())[i];
    CHECK(sum == static_cast<double>(comparison.rows[i].report->makespan_ps));  // of one step
  }
}

TEST_CASE("the page of a comparison names its experiments where there are several") {
  const std::string other =
      R"({"name": "</script>", "model": "gpt3-125m", "cluster": {"base": "dgx-a100-80gb",)"
      R"( "nodes": 1}, "plan": {"micro_batch_size": 4}})";
  const Comparison comparison =
      compare(request({}, {}, {{"small.json", comparison_test::kSmall}, {"other.json", other}}), 1);
  const nlohmann::json data = page_test::data_of(page_of(comparison));
  CHECK(data["several"] == true);
  CHECK(data["plans"]["keys"][0]["values"] == nlohmann::json::array({"small", "</script>"}));
}

}  // namespace
}  // namespace orrery
