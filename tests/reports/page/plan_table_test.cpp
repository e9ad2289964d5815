#include "reports/page/plan_table.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/reports/page/page_data.hpp"

namespace orrery {
namespace {

std::string html_of(const PlanTable& table) {
  Page page;
  page.data = table.json();
  table.add_columns(page);
  std::string html;
  write_page(page, [&html](std::string_view text) { html += text; });
  return html;
}

TEST_CASE("plans of a page are columns of numbers, missing where a plan has none") {
  PlanTable table({{"name", false}, {"plan.tensor_parallel"}});
  table.add({"a", "2"}, PlanTable::State::feasible, "");
  table.set_figure("step_time_s", 1.5);
  table.add({"b", ""}, PlanTable::State::failed, "8 GPUs, groups of 3");
  table.set_figure("mfu", std::nullopt);
  table.add({"a", "4"}, PlanTable::State::infeasible, "out of memory");
  table.set_figure("mfu", 0.5);
  const std::string html = html_of(table);
  const nlohmann::json data = page_test::data_of(html);
  CHECK(data["count"] == 3);
  CHECK(data["keys"][0]["values"] == nlohmann::json::array({"a", "b"}));
  CHECK(data["keys"][0]["of_experiment"] == false);
  CHECK(data["keys"][1]["values"] == nlohmann::json::array({"2", "", "4"}));
  CHECK(data["figures"] == nlohmann::json::array({"step_time_s", "mfu"}));
  CHECK(data["parts"]["breakdown"].empty());
  CHECK(page_test::column_of<std::uint32_t>(html, "key.0") == std::vector<std::uint32_t>{0, 1, 0});
  CHECK(page_test::column_of<std::uint8_t>(html, "state") == std::vector<std::uint8_t>{0, 2, 1});
  CHECK(data["reasons"][page_test::column_of<std::uint32_t>(html, "reason")[2]] == "out of memory");
  const auto step = page_test::column_of<double>(html, "figure.step_time_s");
  REQUIRE(step.size() == 3);
  CHECK(step[0] == 1.5);
  CHECK(std::isnan(step[1]));
  CHECK(std::isnan(step[2]));
  const auto mfu = page_test::column_of<double>(html, "figure.mfu");
  CHECK(std::isnan(mfu[0]));
  CHECK(mfu[2] == 0.5);
}

TEST_CASE("a plan without a result has no parts, one with a result has those of its report") {
  Report report;
  report.gpus = 2;
  report.makespan_ps = 10;
  report.breakdown.compute_ps = 15;
  report.breakdown.bubble_ps = 5;
  PlanTable table({{"k"}});
  table.add({"1"}, PlanTable::State::failed, "none");
  table.add({"2"}, PlanTable::State::feasible, "");
  table.set_result(report);
  const std::string html = html_of(table);
  const auto compute = page_test::column_of<double>(html, "breakdown.compute");
  const auto bubble = page_test::column_of<double>(html, "breakdown.bubble");
  REQUIRE(compute.size() == 2);
  CHECK(std::isnan(compute[0]));
  CHECK(compute[1] == 8);  // 7.5 and 2.5 of 10: the one that is left goes to the first
  CHECK(bubble[1] == 2);
  CHECK(page_test::column_of<double>(html, "figure.step_time_s")[1] == report.step_time_s());
}

}  // namespace
}  // namespace orrery
