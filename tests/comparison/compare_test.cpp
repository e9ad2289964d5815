#include "comparison/compare.hpp"

#include <doctest/doctest.h>

#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "sim/io/read_experiment.hpp"
#include "tests/comparison/small_comparisons.hpp"

namespace orrery {
namespace {

using comparison_test::kSmall;
using comparison_test::request;

TEST_CASE("a row is what simulating its overrides gives, whatever the threads") {
  const auto wanted = request({"plan.zero_stage=0,1", "plan.micro_batch_size=1,2"}, {"stack=ideal"});
  const Comparison one = compare(wanted, 1);
  const Comparison four = compare(wanted, 4);
  REQUIRE(one.rows.size() == 4);
  CHECK(one.keys == std::vector<std::string>{"plan.zero_stage", "plan.micro_batch_size"});
  CHECK(one.rows[2].varied == std::vector<std::string>{"1", "1"});
  for (std::size_t i = 0; i < 4; ++i) {
    std::vector<std::string> overrides{"stack=ideal", "plan.zero_stage=" + one.rows[i].varied[0],
                                       "plan.micro_batch_size=" + one.rows[i].varied[1]};
    const Report alone = simulate(read_experiment_text(kSmall, "", overrides, wanted.catalog, wanted.menus));
    REQUIRE(one.rows[i].report);
    CHECK(one.rows[i].report->makespan_ps == alone.makespan_ps);
    CHECK(four.rows[i].report->makespan_ps == alone.makespan_ps);
    CHECK(one.rows[i].communication_s() == four.rows[i].communication_s());
  }
}

TEST_CASE("ratios are to the first row") {
  // Twice the nodes with a batch per replica: weak scaling.
  const Comparison weak = compare(request({"cluster.nodes=1,2"}), 2);
  const Report& first = *weak.rows[0].report;
  const Report& second = *weak.rows[1].report;
  REQUIRE(second.gpus == 2 * first.gpus);
  CHECK(weak.rows[0].ratios->speed_up == 1);
  CHECK(weak.rows[0].ratios->scaling_efficiency == 1);
  const double step = second.step_time_s() / first.step_time_s();
  CHECK(weak.rows[1].ratios->step_time == doctest::Approx(step));
  CHECK(weak.rows[1].ratios->speed_up == doctest::Approx(2 / step));  // twice the samples a step
  CHECK(weak.rows[1].ratios->scaling_efficiency == doctest::Approx(1 / step));
}

TEST_CASE("what contradicts itself or does not fit is a row with its reason") {
  const Comparison contradicts = compare(request({"plan.tensor_parallel=4,5"}), 1);
  REQUIRE(contradicts.rows.size() == 2);
  CHECK(contradicts.rows[0].feasible());
  CHECK_FALSE(contradicts.rows[1].report);
  REQUIRE_FALSE(contradicts.rows[1].reasons.empty());
  CHECK(contradicts.rows[1].reasons[0].find("/plan/tensor_parallel") == 0);
  const Comparison large = compare(request({"model=gpt3-125m,gpt3-175b"}), 1);
  CHECK(large.rows[1].report);
  CHECK_FALSE(large.rows[1].feasible());
  CHECK(large.rows[1].reasons[0].find("out of memory") == 0);
  CHECK(large.rows[1].ratios);
  // The first row that was simulated is what the others are set against.
  const Comparison late = compare(request({"plan.tensor_parallel=5,4,2"}), 1);
  CHECK_FALSE(late.rows[0].ratios);
  CHECK(late.rows[1].ratios->speed_up == 1);
}

std::vector<Problem> problems_of(const ComparisonRequest& wanted) {
  try {
    static_cast<void>(compare(wanted, 1));
  } catch (const InputError& error) {
    return error.problems();
  }
  return {};
}

TEST_CASE("what is wrong in all variants of an experiment stops the comparison") {
  const auto unknown = problems_of(request({"plan.tensor_paralel=1,2"}));
  REQUIRE(unknown.size() == 1);
  CHECK(unknown[0].source == "command line");
  CHECK(unknown[0].pointer == "/plan/tensor_paralel");
  const auto second = problems_of(request(
      {"plan.micro_batch_size=1,2"}, {}, {{"small.json", kSmall}, {"b.json", "{\"model\": \"gpt3-126m\"}"}}));
  REQUIRE(second.size() == 2);  // no such model, no cluster
  CHECK(second[0].source == "b.json");
  CHECK(problems_of(request({"plan.data_parallel=3,5"})).size() == 2);  // nothing left to compare
  CHECK(problems_of(request({"plan.data_parallel=3,8"})).empty());
}

TEST_CASE("experiments of one name are told apart by their files") {
  const std::string other = R"({"model": "gpt3-125m", "cluster": "dgx-a100-80gb"})";
  const Comparison alike =
      compare(request({}, {}, {{"a.json", kSmall}, {"b.json", kSmall}, {"c.json", other}}), 2);
  CHECK(alike.several);
  CHECK(alike.rows[0].name == "a.json");
  CHECK(alike.rows[1].name == "b.json");
  CHECK(alike.rows[2].name == "gpt3-125m on dgx-a100-80gb");
}

TEST_CASE("communication per step is the exposed part of the breakdown") {
  const Comparison comparison = compare(request({"cluster.nodes=1,2"}, {"simulation.steps=2"}), 1);
  for (const ComparedRow& row : comparison.rows) {
    // Over 2 steps and all GPUs, per GPU and step.
    const auto sum = row.report->breakdown.exposed_ps[static_cast<std::size_t>(Dimension::data)];
    CHECK(row.communication_s() ==
          doctest::Approx(static_cast<double>(sum) * 1e-12 / static_cast<double>(row.report->gpus) / 2));
    CHECK(row.communication_s() < row.report->step_time_s());
    CHECK(row.data_bytes() > 0);
  }
}

}  // namespace
}  // namespace orrery
