#include "studies/validate/validate.hpp"

#include <doctest/doctest.h>

#include "orrery/simulate.hpp"
#include "studies/validate/writers.hpp"
#include "tests/studies/validate/tables.hpp"

using namespace orrery;
using orrery::validation_test::context;
using orrery::validation_test::read;

namespace {

MeasuredTable small_table() {
  return read(
      "name,model,cluster.base,cluster.overrides,plan.tensor_parallel,measured.memory.peak_gb,"
      "measured.step_time_s\n"
      "a,gpt3-125m,dgx-a100-80gb,,1,,0.05\n"
      "\"b|,\",gpt3-125m,dgx-a100-80gb,,2,3,0.04\n"
      "c,gpt3-125m,dgx-a100-80gb,\"[{\"\"gpu\"\": 0, \"\"speed\"\": 0.5, \"\"link\"\": 0}]\",2,,1\n"
      "d,gpt3-175b,dgx-a100-80gb,,8,,1\n");
}

}  // namespace

TEST_CASE("predictions stand beside measurements, in the order of the rows") {
  const MeasuredTable table = small_table();
  std::size_t calls = 0;
  const auto results = validate({table, table}, 3, [&](std::size_t done, std::size_t total) {
    CHECK(done == ++calls);
    CHECK(total == 6);
  });
  CHECK(calls == 6);
  REQUIRE(results.size() == 2);
  const TableResult& result = results[1];
  CHECK(result.table == "t");
  CHECK(result.main_key == "step_time_s");
  REQUIRE(result.figures.size() == 4);
  CHECK(result.figures[0].row == "a");
  CHECK(result.figures[1].key == "memory.peak_gb");
  CHECK(result.figures[2].row == "b|,");
  const Report report = simulate(table.rows[1].experiment);
  CHECK(result.figures[2].pair.predicted == report.step_time_s());
  CHECK(result.figures[2].pair.error() == doctest::Approx(report.step_time_s() / 0.04 - 1));
  CHECK(result.figures[2].gpus == 8);
  CHECK(result.infeasible == 1);  // 175B parameters on eight GPUs
  CHECK(!result.figures[3].feasible);
  CHECK(result.main()->rows == 3);
  CHECK(result.statistics.at("memory.peak_gb").rows == 1);
  REQUIRE(result.skipped.size() == 1);
  CHECK(result.skipped[0].name == "c");
}

TEST_CASE("what a run alone can refuse is an error in its line") {
  const MeasuredTable table = read(
      "name,model,cluster.base,cluster.gpus_per_node,cluster.node.kind,cluster.node.link_gb_per_s,"
      "measured.step_time_s\n"
      "a,gpt3-125m,dgx-a100-80gb,,,,1\nb,gpt3-125m,dgx-a100-80gb,16,hybrid-cube-mesh,25,1\n");
  CHECK_THROWS_WITH(static_cast<void>(validate({table}, 2)), doctest::Contains("folder/t.csv:3:1: /cluster"));
}

TEST_CASE("a table of which nothing can be simulated has no statistics") {
  const MeasuredTable table = read(
      "name,model,cluster.base,cluster.overrides,measured.mfu\n"
      "c,gpt3-125m,dgx-a100-80gb,\"[{\"\"gpu\"\": 0, \"\"speed\"\": 0.5, \"\"link\"\": 0}]\",0.4\n");
  const auto results = validate({table}, 1);
  CHECK(results[0].main_key == "mfu");
  CHECK(results[0].main() == nullptr);
  for (const auto write : {write_validation_text, write_validation_json, write_validation_csv}) {
    std::string text;
    write(results, [&](std::string_view part) { text += part; });
    CHECK(text.find("link") != std::string::npos);
  }
}

TEST_CASE("the page escapes what Markdown would take for a column") {
  std::string page;
  write_validation_page(validate({small_table()}, 1), "orrery validate",
                        [&](std::string_view t) { page += t; });
  CHECK(page.find("| b\\|, memory.peak\\_gb | 8 |") != std::string::npos);
  CHECK(page.find("| d † |") != std::string::npos);
}
