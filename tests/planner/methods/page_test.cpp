#include <doctest/doctest.h>

#include "planner/methods/write_search.hpp"
#include "tests/reports/page/page_data.hpp"

namespace orrery {
namespace {

TEST_CASE("the page of a search has each plan once, and its lists by their places") {
  const Space space(
      read_space(R"({"plan.micro_batch_size": [1, 2, 4], "plan.recompute": ["none", "full"]})", "space.json"),
      {"experiment.json",
       R"({"name": "<b>", "model": "gpt3-125m", "cluster": {"base": "dgx-a100-80gb", "nodes": 1},
                      "plan": {"global_batch_size": 32}})"},
      Catalog::embedded(), menus());
  SearchRequest request;
  request.pareto = {Objective("memory.peak_gb")};
  request.top = 2;
  const SearchResult result = search(space, request);
  std::string html;
  write_search_page(result, space, request, [&html](std::string_view text) { html += text; });
  const nlohmann::json data = page_test::data_of(html);
  CHECK(data["name"] == "<b>");
  CHECK(data["optimal"] == true);
  CHECK(data["best"] == nlohmann::json::array({0, 1}));
  CHECK(data["pareto"].size() == result.pareto.size());
  CHECK(data["weighed_by"][0]["key"] == "memory.peak_gb");
  const auto step = page_test::column_of<double>(html, "figure.step_time_s");
  CHECK(step.size() == data["plans"]["count"].get<std::size_t>());
  CHECK(step[0] == result.best[0].report.step_time_s());
  for (std::size_t i = 0; i < result.pareto.size(); ++i)
    CHECK(step[data["pareto"][i].get<std::size_t>()] == result.pareto[i].report.step_time_s());
}

}  // namespace
}  // namespace orrery
