#include "studies/validate/ranking.hpp"

#include <doctest/doctest.h>

#include "orrery/simulate.hpp"
#include "studies/validate/writers.hpp"
#include "tests/studies/validate/tables.hpp"

using namespace orrery;

namespace {

MeasuredTable tried_plans() {
  return validation_test::read(
      "name,model,cluster.base,cluster.nodes,plan.tensor_parallel,plan.pipeline_parallel,case,planner,"
      "planner.step_time_s,measured.step_time_s,measured.feasible\n"
      "a,gpt3-1.3b,dgx-a100-80gb,2,1,1,one,other,3,0.5,\n"
      "b,gpt3-1.3b,dgx-a100-80gb,2,2,1,one,other,2,0.6,\n"
      "c,gpt3-1.3b,dgx-a100-80gb,2,4,1,one,other,4,0.9,\n"
      "d,gpt3-1.3b,dgx-a100-80gb,2,8,1,one,other,1,,0\n"
      "e,gpt3-1.3b,dgx-a100-80gb,2,1,2,one,other,5,1.2,\n"
      "f,gpt3-175b,dgx-a100-80gb,1,8,1,,,,9,\n"
      "g,gpt3-175b,dgx-a100-80gb,1,8,1,,,,,0\n");
}

std::string ranking_text(const std::vector<RankedCase>& cases) {
  std::string text;
  write_ranking_text(cases, [&](std::string_view part) { text += part; });
  return text;
}

}  // namespace

TEST_CASE("choosing among plans, by hand") {
  // Predicted order p q r s; measured 2, 1, 4, 3. Pairs in order: pr, ps, qr, qs; in the other: pq, rs. (4 -
  // 2) / 6.
  const std::vector<TriedPlan> plans{
      {"p", 10, 2, true}, {"q", 11, 1, true}, {"r", 12, 4, true}, {"s", 13, 3, true}};
  const PlanOrder order = order_plans("flow", plans);
  CHECK(order.by == "flow");
  CHECK(*order.tau == doctest::Approx(2.0 / 6));
  CHECK(order.chosen == "p");
  CHECK(*order.regret == 1);       // 2 s in place of 1 s
  CHECK(*order.regret_of_3 == 0);  // q is among p, q and r
}

TEST_CASE("plans that do not fit are not chosen, and those that failed have no regret") {
  const std::vector<TriedPlan> plans{
      {"large", 1, 5, false}, {"fails", 2, std::nullopt, true}, {"slow", 3, 6, true}, {"late", 4, 5, true}};
  const PlanOrder order = order_plans("x", plans);
  CHECK(!order.tau);  // of three plans that ran
  CHECK(order.chosen == "fails");
  CHECK(!order.regret);
  CHECK(*order.regret_of_3 == 0);
  const std::vector<TriedPlan> none{{"large", 1, 5, false}};
  CHECK(order_plans("x", none).chosen.empty());
}

TEST_CASE("of plans that are predicted alike the first is chosen") {
  const std::vector<TriedPlan> plans{{"a", 1, 3, true}, {"b", 1, 2, true}};
  CHECK(order_plans("x", plans).chosen == "a");
}

TEST_CASE("cases of a table, each network beside the planner") {
  std::size_t calls = 0;
  const std::vector<RankedCase> cases = rank_plans({tried_plans()}, 2, [&](std::size_t, std::size_t total) {
    ++calls;
    CHECK(total == 7);
  });
  CHECK(calls == 7);
  REQUIRE(cases.size() == 2);
  const RankedCase& one = cases[0];
  CHECK(one.name == "one");
  CHECK(one.gpus == 16);
  CHECK(one.ran == 4);
  CHECK(one.best == "a");
  CHECK(one.failed == 1);
  CHECK(one.failed_rightly == 0);
  REQUIRE(one.orders.size() == 3);
  CHECK(one.orders[0].by == "flow");
  CHECK(one.orders[1].by == "alpha-beta");
  const PlanOrder& planner = one.orders[2];
  CHECK(planner.by == "other");
  // The plans a, b, c, e are predicted at 3, 2, 4, 5: only the pair ab is in the wrong order.
  CHECK(*planner.tau == doctest::Approx(4.0 / 6));
  CHECK(planner.chosen == "d");  // which failed; b and a are the next ones
  CHECK(!planner.regret);
  CHECK(*planner.regret_of_3 == 0);
  // 175 billion parameters fit on no eight GPUs.
  const RankedCase& other = cases[1];
  CHECK(other.name == "gpt3-175b");
  CHECK(other.failed_rightly == 1);
  CHECK(other.misjudged == 1);
  CHECK(other.orders[0].chosen.empty());
}

TEST_CASE("the order of a network model is that of its step times") {
  const MeasuredTable table = tried_plans();
  std::string fastest;
  double least = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    Experiment experiment = table.rows[i].experiment;
    experiment.simulation.network = Network::alpha_beta;
    const double time = simulate(experiment).step_time_s();
    if (!fastest.empty() && time >= least) continue;
    fastest = table.rows[i].name;
    least = time;
  }
  CHECK(rank_plans({table}, 1)[0].orders[1].chosen == fastest);
}

TEST_CASE("the text says what is chosen, means over cases, and what becomes of memory") {
  const std::string text = ranking_text(rank_plans({tried_plans()}, 1));
  CHECK(text.find("t, one: 4 plans of 16 GPUs ran, the best in 0.5 s (a)\n") != std::string::npos);
  CHECK(text.find("it fails") != std::string::npos);
  CHECK(text.find("mean over cases") != std::string::npos);
  CHECK(text.find("1 further case with fewer than 4 plans\n") != std::string::npos);
  CHECK(text.find("\nt           2                   1     5                   1\n") != std::string::npos);
}

TEST_CASE("a row that cannot be run is an error in its line") {
  const MeasuredTable table = validation_test::read(
      "name,model,cluster.base,cluster.gpus_per_node,cluster.node.kind,cluster.node.link_gb_per_s,"
      "measured.step_time_s\n"
      "a,gpt3-125m,dgx-a100-80gb,,,,1\nb,gpt3-125m,dgx-a100-80gb,16,hybrid-cube-mesh,25,1\n");
  CHECK_THROWS_WITH(static_cast<void>(rank_plans({table}, 2)),
                    doctest::Contains("folder/t.csv:3:1: /cluster"));
}
