// Checks that every method for spaces of lists finds the optimum of enumeration, keeps its budget, and does
// not depend on threads.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "planner/methods/search.hpp"
#include "planner/methods/write_search.hpp"
#include "planner/space/points.hpp"
#include "tests/sanitized.hpp"

namespace orrery {
namespace {

constexpr std::array kAnySpace{"exhaustive", "zeroth-order", "rl"};

constexpr const char* kTwoNodes = R"({"model": "gpt3-1.3b", "cluster": {"base": "dgx-a100-80gb", "nodes": 2},
    "plan": {"global_batch_size": 32}})";
constexpr const char* kDegrees =
    test::kSanitized ? R"({"plan.tensor_parallel": "1..8*2", "plan.pipeline_parallel": "1..8*2",
    "plan.micro_batch_size": "1..4*2", "plan.zero_stage": [0, 1], "plan.recompute": ["none", "full"]})"
                     : R"({"plan.tensor_parallel": "1..8*2", "plan.pipeline_parallel": "1..8*2",
    "plan.micro_batch_size": "1..16*2", "plan.recompute": "auto", "plan.zero_stage": "auto",
    "plan.rank_order": ["tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp"]})";
/// Conditions cut the way to the fastest link between nodes: its neighbours are no points.
constexpr const char* kPlanted =
    R"({"cluster.fabric.nic_gbps": "10..25+1", "plan.micro_batch_size": [1, 2, 4],
    "plan.bucket_mb": "5..100+5", "where": "cluster.fabric.nic_gbps != 24 and cluster.fabric.nic_gbps != 23"})";

Space space_of_lists(const char* description, Intervals intervals = Intervals::refused) {
  return {read_space(description, "space.json"),
          {"experiment.json", kTwoNodes},
          Catalog::embedded(),
          menus(),
          intervals};
}

SearchRequest asked(const char* method, const char* objective = "step_time_s", std::uint64_t seed = 0) {
  SearchRequest request;
  request.method = method;
  request.objective = Objective(objective);
  request.seed = seed;
  request.top = 1;
  request.threads = 2;
  return request;
}

double least_of_all(const Space& space, const Objective& objective) {
  double least = std::numeric_limits<double>::infinity();
  PointReader reader(space);
  Simulator simulator;
  for (std::uint64_t index = 0; index < space.size(); ++index) {
    const PointOrRemoval read = reader.read(index);
    const auto* point = std::get_if<Point>(&read);
    if (point == nullptr) continue;
    const Report report = simulator.simulate(point->experiment);
    if (report.feasible) least = std::min(least, objective.cost(report));
  }
  return least;
}

TEST_CASE("every method finds the optimum that enumeration finds") {
  for (const char* description : {kDegrees, kPlanted}) {
    const Space space = space_of_lists(description);
    const double least = least_of_all(space, Objective("step_time_s"));
    for (const char* method : kAnySpace) {
      for (std::uint64_t seed = 0; seed < test::trials(3); ++seed) {
        INFO(method, " ", seed);
        const SearchResult result = search(space, asked(method, "step_time_s", seed));
        CHECK(result.best.front().trial.cost == least);
        CHECK(result.simulated <= 500);
        CHECK(result.improvements.back().cost == least);
      }
    }
  }
}

TEST_CASE("without a bound of the objective the optimum is found as well") {
  const Space space = space_of_lists(kDegrees);
  const double least = least_of_all(space, Objective("breakdown_s.bubble"));
  for (const char* method : kAnySpace) {
    INFO(method);
    CHECK(search(space, asked(method, "breakdown_s.bubble")).best.front().trial.cost == least);
  }
}

// No length of a training is given.
TEST_CASE("a front over a figure that no plan has is refused") {
  const Space space = space_of_lists(R"({"plan.tensor_parallel": "1..8*2"})");
  for (const char* method : kAnySpace) {
    INFO(method);
    SearchRequest request = asked(method);
    request.pareto.emplace_back("memory.peak_gb");
    CHECK_FALSE(search(space, request).pareto.empty());
    request.pareto.emplace_back("training_days");
    CHECK_THROWS_WITH_AS(
        static_cast<void>(search(space, request)),
        doctest::Contains("--pareto: no plan that was simulated has a value of \"training_days\""),
        InputError);
  }
}

TEST_CASE("what every method finds depends on its seed, and on no thread") {
  const Space space = space_of_lists(kDegrees);
  for (const char* method : kAnySpace) {
    INFO(method);
    SearchRequest request = asked(method, "max:breakdown_s.bubble", 7);
    request.budget.simulations = test::kSanitized ? 30 : 90;
    request.pareto.emplace_back("memory.peak_gb");
    const auto json = [&](unsigned threads, std::uint64_t seed) {
      request.threads = threads;
      request.seed = seed;
      return search_json(search(space, request), space, request);
    };
    const std::string once = json(1, 7);
    CHECK(once == json(4, 7));
    CHECK(once == json(1, 7));
    CHECK(once != json(1, 8));
  }
}

TEST_CASE("a budget of simulations is spent to the last one, and no further") {
  const Space space = space_of_lists(kDegrees);
  for (const char* method : kAnySpace) {
    for (const std::uint64_t budget : {1, 23, 24, 25, 100}) {
      INFO(method, " ", budget);
      SearchRequest request = asked(method, "breakdown_s.bubble");  // which nothing bounds
      request.budget.simulations = budget;
      CHECK(search(space, request).simulated == budget);
    }
  }
}

TEST_CASE("a budget of seconds ends a search that would go on, once it has a plan to report") {
  const Space space = space_of_lists(kDegrees);
  for (const char* method : kAnySpace) {
    INFO(method);
    SearchRequest request = asked(method, "breakdown_s.bubble");
    request.budget.seconds = 1e-9;
    const SearchResult result = search(space, request);
    CHECK(result.simulated == 1);
    CHECK(result.best.size() == 1);
    CHECK_FALSE(result.optimal);
  }
}

TEST_CASE("points that are no experiments or do not fit cost no simulation and are counted once") {
  // 3 divides no number of GPUs; micro-batches of 32 do not divide the batch of each of 16 replicas; without
  // sharding 6.7 billion parameters do not fit on one GPU.
  const char* const description =
      R"({"model": ["gpt3-6.7b", "gpt3-1.3b"], "plan.tensor_parallel": [1, 2, 3, 4],
      "plan.micro_batch_size": [1, 2, 32]})";
  const Space space = space_of_lists(description);
  const SearchResult all = search(space, asked("exhaustive", "breakdown_s.bubble"));
  REQUIRE(all.infeasible > 0);
  REQUIRE(all.removed.size() > 1);
  for (const char* method : kAnySpace) {
    INFO(method);
    const SearchResult result = search(space, asked(method, "breakdown_s.bubble"));
    CHECK(result.evaluated == space.size());
    CHECK(result.removed == all.removed);
    CHECK(result.infeasible == all.infeasible);
    CHECK(result.distinct == all.distinct);
    CHECK(result.simulated == all.distinct - all.infeasible);
  }
}

TEST_CASE("the policy proves its best point where all others are simulated or have worse bounds") {
  const SearchResult result = search(space_of_lists(kDegrees), asked("rl"));
  CHECK(result.optimal);
  CHECK(result.gap == 0);
  SearchRequest request = asked("rl");
  request.budget.simulations = 1;
  const SearchResult one = search(space_of_lists(kDegrees), request);
  REQUIRE(one.gap.has_value());
  CHECK(one.best.front().trial.cost * (1 - *one.gap) <= result.best.front().trial.cost * (1 + 1e-12));
}

TEST_CASE("over intervals no point of a fine grid is better than what is found") {
  const Space space = space_of_lists(
      R"({"plan.bucket_mb": "1~2000", "cluster.fabric.nic_gbps": {"from": 50, "to": 400, "continuous": true}})",
      Intervals::allowed);
  const Space grid =
      space_of_lists(R"({"plan.bucket_mb": "1..2000*1.5", "cluster.fabric.nic_gbps": "50..400*1.5"})");
  for (const char* objective : {"step_time_s", "max:step_time_s"}) {
    INFO(objective);
    const SearchResult result = search(space, asked("zeroth-order", objective));
    CHECK(result.best.front().trial.cost <= least_of_all(grid, Objective(objective)) + 1e-9);
    CHECK(result.simulated <= 500);
  }
  SearchRequest few = asked("zeroth-order");
  few.budget.simulations = 17;
  CHECK(search(space, few).simulated == 17);
}

TEST_CASE("intervals beside lists are searched by evolution, integers stay integers") {
  const Space space = space_of_lists(R"({"plan.bucket_mb": "1~2000", "plan.tensor_parallel": [1, 2, 4],
      "plan.micro_batch_size": "1~8"})",
                                     Intervals::allowed);
  const Space grid = space_of_lists(R"({"plan.bucket_mb": "1..2000*1.2", "plan.tensor_parallel": [1, 2, 4],
      "plan.micro_batch_size": "1..8"})");
  const SearchResult result = search(space, asked("zeroth-order"));
  CHECK(result.best.front().trial.cost <= least_of_all(grid, Objective("step_time_s")) * 1.001);
  const std::string& micro_batch = result.best.front().trial.values[1];  // keys stand by name
  CHECK(micro_batch.find('.') == std::string::npos);
}

std::string refusal_of_search(const char* description, const SearchRequest& request) {
  try {
    static_cast<void>(search(space_of_lists(description, Intervals::allowed), request));
  } catch (const InputError& error) {
    return error.diagnostics().front().message;
  }
  return "";
}

TEST_CASE("methods that walk over values refuse intervals") {
  for (const SearchMethod& method : search_methods()) {
    if (method.takes_intervals) continue;
    INFO(method.name);
    const SearchRequest request = asked(std::string(method.name).c_str());
    CHECK(refusal_of_search(R"({"plan.bucket_mb": "1~9"})", request)
              .ends_with(
                  "found all numbers from 1 to 9 for \"plan.bucket_mb\", allowed a list of values or a range "
                  "with steps, or --search zeroth-order"));
  }
}

TEST_CASE("where no point is valid, the search says of how many") {
  CHECK(refusal_of_search(R"({"plan.tensor_parallel": [3, 5]})", asked("zeroth-order"))
            .starts_with("no point of 2 is valid"));
}

TEST_CASE("where no point drawn of an interval is valid, the search ends and says so" *
          doctest::skip(test::kSanitized)) {
  CHECK(
      refusal_of_search(R"({"plan.tensor_parallel": [3, 5], "plan.bucket_mb": "1~9"})", asked("zeroth-order"))
          .find("points looked at is valid") != std::string::npos);
}

}  // namespace
}  // namespace orrery
