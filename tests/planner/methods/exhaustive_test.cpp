#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "planner/methods/search.hpp"
#include "planner/methods/usual_space.hpp"
#include "planner/methods/write_search.hpp"
#include "planner/space/points.hpp"
#include "tests/sanitized.hpp"

namespace orrery {
namespace {

constexpr const char* kExperiment =
    R"({"model": "gpt3-1.3b", "cluster": {"base": "dgx-a100-80gb", "nodes": 2},
    "plan": {"global_batch_size": 32}})";
constexpr const char* kPlans = R"({"plan.tensor_parallel": "1..8*2", "plan.pipeline_parallel": "1..8*2",
    "plan.micro_batch_size": [1, 4], "plan.pipeline_schedule": ["1f1b", "interleaved-1f1b"],
    "plan.virtual_stages": [1, 3], "plan.recompute": ["none", "full"], "plan.zero_stage": [0, 1, 3]})";

/// This is a larger space, for tests that do not enumerate it.
constexpr const char* kWidePlans = R"({"plan.tensor_parallel": "1..8*2", "plan.pipeline_parallel": "1..8*2",
    "plan.micro_batch_size": "1..8*2", "plan.pipeline_schedule": ["1f1b", "interleaved-1f1b"],
    "plan.virtual_stages": [1, 2, 3], "plan.recompute": "auto", "plan.zero_stage": "auto"})";

Space space_around(const char* experiment, const std::string& description) {
  return {
      read_space(description, "space.json"), {"experiment.json", experiment}, Catalog::embedded(), menus()};
}

/// Points by cost, without any bound.
std::vector<double> all_costs(const Space& space, const Objective& objective) {
  std::vector<double> costs;
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  PointReader reader(space);
  Simulator simulator;
  for (std::uint64_t index = 0; index < space.size(); ++index) {
    const PointOrRemoval read = reader.read(index);
    const auto* point = std::get_if<Point>(&read);
    if (point == nullptr || !seen.insert({point->content.a, point->content.b}).second) continue;
    const Report report = simulator.simulate(point->experiment);
    if (report.feasible) costs.push_back(objective.cost(report));
  }
  std::ranges::sort(costs);
  return costs;
}

SearchRequest request_for(const char* objective, std::size_t top, unsigned threads = 2) {
  SearchRequest request;
  request.objective = Objective(objective);
  request.top = top;
  request.threads = threads;
  return request;
}

TEST_CASE("the best points are those of all points simulated, for every objective") {
  const Space space = space_around(kExperiment, kPlans);
  constexpr std::array kObjectives{"step_time_s", "mfu", "memory.peak_gb", "breakdown_s.bubble"};
  for (const char* objective : std::span(kObjectives).first(test::trials(kObjectives.size()))) {
    INFO(objective);
    const SearchRequest request = request_for(objective, 4);
    const std::vector<double> costs = all_costs(space, request.objective);
    const SearchResult result = search(space, request);
    REQUIRE(result.best.size() == 4);
    for (std::size_t k = 0; k < 4; ++k) CHECK(result.best[k].trial.cost == costs[k]);
    CHECK(result.optimal);
    CHECK(result.gap == 0);
    CHECK(result.distinct - result.infeasible == costs.size());
    CHECK(result.simulated + result.pruned == costs.size());
  }
}

TEST_CASE("the optimum of the usual space is that of all its points, with experts and without") {
  if (test::kSanitized) return;  // minutes
  constexpr std::array kExperiments{
      R"({"model": {"base": "mixtral-8x7b", "layers": 4}, "cluster": {"base": "dgx-h100", "gpus_per_node": 4},
          "plan": {"global_batch_size": 8}})",
      R"({"model": {"base": "llama3.1-8b", "layers": 5}, "cluster": {"base": "dgx-h100", "gpus_per_node": 4},
          "plan": {"global_batch_size": 8}})"};
  for (const char* experiment : kExperiments) {
    INFO(experiment);
    const BaseExperiment base{"experiment.json", experiment};
    const Space space{usual_space(base, Catalog::embedded(), menus()), base, Catalog::embedded(), menus()};
    const SearchRequest request = request_for("step_time_s", 3);
    const std::vector<double> costs = all_costs(space, request.objective);
    const SearchResult result = search(space, request);
    REQUIRE(result.best.size() == 3);
    for (std::size_t k = 0; k < 3; ++k) CHECK(result.best[k].trial.cost == costs[k]);
    CHECK(result.optimal);
    CHECK(result.simulated + result.pruned == costs.size());
  }
}

TEST_CASE("bounds leave most points out where they bound the objective") {
  const SearchResult result = search(space_around(kExperiment, kWidePlans), request_for("step_time_s", 1));
  CHECK(result.simulated * 20 < result.distinct);
  CHECK(result.bounded * 5 < result.distinct);
}

TEST_CASE("what is found depends on no thread") {
  const Space space = space_around(kExperiment, kPlans);
  const SearchRequest one = request_for("step_time_s", 3, 1);
  const SearchRequest four = request_for("step_time_s", 3, 4);
  CHECK(search_json(search(space, one), space, one) == search_json(search(space, four), space, four));
}

TEST_CASE("a budget leaves a gap that the optimum lies in") {
  const Space space = space_around(kExperiment, kPlans);
  SearchRequest request = request_for("step_time_s", 1);
  const double best = search(space, request).best.front().trial.cost;
  request.budget = parse_budget("1");
  const SearchResult result = search(space, request);
  CHECK(result.simulated == 1);
  REQUIRE(result.gap.has_value());
  const double found = result.best.front().trial.cost;
  CHECK(found * (1 - *result.gap) <= best * (1 + 1e-12));
  CHECK(result.optimal == (*result.gap == 0));
}

TEST_CASE("the front of two objectives has no point that another beats in both") {
  const Space space = space_around(kExperiment, kPlans);
  SearchRequest request = request_for("step_time_s", 1);
  request.pareto.emplace_back("memory.peak_gb");
  const SearchResult result = search(space, request);
  // All points, without a bound: the front is the same.
  PointReader reader(space);
  Simulator simulator;
  std::vector<std::pair<double, double>> all;
  for (std::uint64_t index = 0; index < space.size(); ++index) {
    const PointOrRemoval read = reader.read(index);
    const auto* point = std::get_if<Point>(&read);
    if (point == nullptr) continue;
    const Report report = simulator.simulate(point->experiment);
    if (report.feasible) all.emplace_back(request.objective.cost(report), request.pareto[0].cost(report));
  }
  std::ranges::sort(all);
  std::vector<std::pair<double, double>> front;
  for (const auto& figures : all)
    if (front.empty() || figures.second < front.back().second) front.push_back(figures);
  std::vector<std::pair<double, double>> found;
  for (const FoundPlan& plan : result.pareto) found.emplace_back(plan.trial.cost, plan.trial.pareto[0]);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  CHECK(found == front);
  CHECK(front.size() > 2);
}

TEST_CASE("the best of mixed GPUs and of workers that keep no step is found, with bounds or without") {
  const SearchRequest request = request_for("step_time_s", 2);
  const Space mixed = space_around(
      R"({"model": "gpt3-1.3b", "cluster": {"base": "dgx-a100-80gb",
          "groups": [{"nodes": 1}, {"nodes": 1, "gpu": "a100-40gb"}]},
          "plan": {"global_batch_size": 32, "precision": "fp16"}})",
      R"({"plan.tensor_parallel": [1, 2, 4, 8], "plan.pipeline_parallel": [1, 2, 4],
          "plan.recompute": ["none", "full"]})");
  const std::vector<double> costs = all_costs(mixed, request.objective);
  const SearchResult result = search(mixed, request);
  REQUIRE(result.best.size() == 2);
  CHECK(result.best[0].trial.cost == costs[0]);
  CHECK(result.best[1].trial.cost == costs[1]);
}

std::string refusal_of(const std::string& description, const SearchRequest& request) {
  try {
    static_cast<void>(search(space_around(kExperiment, description), request));
  } catch (const InputError& error) {
    return error.diagnostics().front().message;
  }
  return "";
}

TEST_CASE("a space without a point says what removed how many") {
  CHECK(refusal_of(R"({"plan.tensor_parallel": [3, 5], "plan.pipeline_parallel": [1, 2],
          "where": "plan.tensor_parallel != 5 or plan.pipeline_parallel != 2"})",
                   request_for("step_time_s", 1))
            .starts_with("no point of 4 is valid; 3 removed by plan.tensor_parallel (found "
                         "3, allowed a divisor of heads 16); 1 removed by plan.tensor_parallel != 5"));
}

TEST_CASE("points that only building their cluster refuses are removed, with the reason") {
  const Space nodes = space_around(R"({"model": "resnet-50", "cluster": {"base": "tpu-v5p", "nodes": 1},
                                       "plan": {"micro_batch_size": 32}})",
                                   R"({"cluster.nodes": [1, 4]})");
  for (const char* method : {"exhaustive", "rl"}) {
    INFO(method);
    SearchRequest request = request_for("step_time_s", 1);
    request.method = method;
    const SearchResult result = search(nodes, request);
    CHECK(result.best.size() == 1);
    REQUIRE(result.removed.size() == 1);
    CHECK(result.removed.begin()->first ==
          "cluster.fabric.shape (the extents multiply to 64; the cluster has 4 nodes)");
  }
}

TEST_CASE("where plans are valid and none fits, that is the answer") {
  const Space space = space_around(
      R"({"model": "gpt3-175b", "cluster": {"base": "dgx-a100-80gb", "nodes": 1}, "plan": {"global_batch_size": 8}})",
      R"({"plan.tensor_parallel": [4, 8]})");
  const SearchResult result = search(space, request_for("step_time_s", 1));
  CHECK(result.best.empty());
  CHECK(result.infeasible == 2);
}

TEST_CASE("an objective that no plan has a value of is refused by name") {
  const Space space =
      space_around(R"({"model": "gpt3-1.3b", "cluster": {"base": "dgx-h100", "nodes": 1, "gpu": "t4"},
                                       "plan": {"global_batch_size": 8, "precision": "fp16"}})",
                   R"({"plan.tensor_parallel": [4, 8]})");
  CHECK_THROWS_WITH_AS(static_cast<void>(search(space, request_for("cost_usd", 1))),
                       "command line: --objective: no plan that was simulated has a value of \"cost_usd\"",
                       InputError);
}

TEST_CASE("methods, objectives and budgets that do not exist are refused with what is near") {
  SearchRequest request = request_for("step_time_s", 1);
  request.method = "exhaustiv";
  CHECK(refusal_of(kPlans, request).find("did you mean \"exhaustive\"?") != std::string::npos);
  CHECK_THROWS_WITH_AS(
      Objective("step_time"),
      "command line: --objective: found \"step_time\", allowed a number of the result, such as "
      "step_time_s or mfu; did you mean \"step_time_s\"?",
      InputError);
  CHECK_THROWS_AS(Objective("assumptions"), InputError);
  CHECK_THROWS_AS(Objective("breakdown_s"), InputError);
  CHECK_THROWS_AS(Objective("max:"), InputError);
  for (const char* budget : {"", "0", "0s", "-3", "1.5", "s", "nan", "inf", "1e99", "3 s", "10m"}) {
    INFO(budget);
    CHECK_THROWS_AS(static_cast<void>(parse_budget(budget)), InputError);
  }
  CHECK(parse_budget("500").simulations == 500);
  CHECK(parse_budget("2.5s").seconds == 2.5);
}

TEST_CASE("more is better of rates and shares, less of times, unless said otherwise") {
  CHECK(Objective("mfu").most());
  CHECK(Objective("tokens_per_s").most());
  CHECK_FALSE(Objective("step_time_s").most());
  CHECK_FALSE(Objective("memory.peak_gb").most());
  CHECK(Objective("max:step_time_s").most());
  CHECK_FALSE(Objective("max:step_time_s").follows_time());
}

}  // namespace
}  // namespace orrery
