// Searches for plans that serve requests.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "config/schema/menus.hpp"
#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "planner/methods/search.hpp"
#include "planner/methods/usual_space.hpp"
#include "planner/methods/write_search.hpp"

namespace orrery {
namespace {

BaseExperiment served_base() {
  return {"served.json", R"({"model": "llama3.1-8b", "cluster": "dgx-h100", "plan": {"precision": "bf16"},
    "inference": {"prompt_tokens": 500, "output_tokens": 20, "max_model_len": 1024}})"};
}

const Space& served_space() {
  static const Space space(usual_space(served_base(), Catalog::embedded(), menus()), served_base(),
                           Catalog::embedded(), menus());
  return space;
}

SearchRequest served_request(const std::vector<std::string>& limits) {
  SearchRequest request;
  request.objective = Objective(usual_objective(served_space()));
  for (const std::string& limit : limits) request.limits.emplace_back(limit);
  return request;
}

double figure_of(const FoundPlan& plan, const std::string& key) {
  return Objective(key).value(plan.report).value();
}

TEST_CASE("the usual space of serving has degrees, batch sizes and replicas for prompts and outputs") {
  std::vector<std::string> keys;
  for (const SpaceKey& key : served_space().keys()) keys.push_back(key.key);
  CHECK(keys == std::vector<std::string>{"plan.data_parallel", "plan.tensor_parallel",
                                         "plan.pipeline_parallel", "inference.batch_size",
                                         "inference.disaggregated"});
  CHECK(usual_objective(served_space()) == "tokens_per_s_per_gpu");
}

TEST_CASE("the best plan under a limit is the best of those that keep it") {
  SearchRequest all = served_request({});
  all.top = 1000;
  const SearchResult every = search(served_space(), all);
  REQUIRE(every.best.size() == every.simulated);
  const double limit = figure_of(every.best[every.best.size() / 2], "ttft_s_p99");
  const auto keeps = [&](const FoundPlan& plan) { return figure_of(plan, "ttft_s_p99") <= limit; };
  const auto expected = std::ranges::find_if(every.best, keeps);
  const SearchRequest bounded = served_request({"ttft_s_p99=" + std::to_string(limit + 1e-6)});
  for (const char* method : {"exhaustive", "rl", "zeroth-order"}) {
    SearchRequest request = bounded;
    request.method = method;
    const SearchResult found = search(served_space(), request);
    CAPTURE(method);
    REQUIRE_FALSE(found.best.empty());
    CHECK(found.best.front().trial.cost == expected->trial.cost);
    CHECK(std::ranges::all_of(found.best, keeps));
  }
  const SearchResult proven = search(served_space(), bounded);
  CHECK(proven.optimal);
  CHECK(proven.beyond == static_cast<std::uint64_t>(std::ranges::count_if(every.best, std::not_fn(keeps))));
}

TEST_CASE("plans of the front are ones that none is better than in throughput and latency") {
  SearchRequest request = served_request({});
  request.pareto.emplace_back("tpot_s_p99");
  const SearchResult found = search(served_space(), request);
  REQUIRE(found.pareto.size() > 2);
  for (std::size_t i = 1; i < found.pareto.size(); ++i) {
    CHECK(figure_of(found.pareto[i], "tokens_per_s_per_gpu") <=
          figure_of(found.pareto[i - 1], "tokens_per_s_per_gpu"));
    CHECK(figure_of(found.pareto[i], "tpot_s_p99") < figure_of(found.pareto[i - 1], "tpot_s_p99"));
  }
}

TEST_CASE("a limit that nothing keeps is an answer, and one that is none is refused") {
  const SearchRequest request = served_request({"ttft_s_p99=1e-9"});
  const SearchResult none = search(served_space(), request);
  CHECK(none.best.empty());
  CHECK(none.beyond == none.simulated);
  CHECK(search_text(none, served_space(), request).find("keeps ttft_s_p99 <= 1e-09") != std::string::npos);
  CHECK(Limit("max:tokens_per_s=3").text() == "tokens_per_s >= 3");
  for (const char* wrong :
       {"ttft_s_p99", "ttft_s_p99=", "ttft_s_p99=x", "ttft_s_p99=1s", "speed=1", "name=1"})
    CHECK_THROWS_AS(Limit{wrong}, InputError);
}

TEST_CASE("no plan is the best that does not keep up with the requests") {
  BaseExperiment base = served_base();
  base.overrides = {"inference.requests_per_s=1000", "inference.requests=300"};
  SpaceDescription description;
  description.keys.push_back({"inference.batch_size", {"1", "2"}, false});
  const Space space(std::move(description), base, Catalog::embedded(), menus());
  const SearchRequest request = served_request({});
  const SearchResult none = search(space, request);
  CHECK(none.best.empty());
  CHECK(none.overloaded == 2);
  CHECK(search_text(none, space, request).find("No plan that was simulated keeps up") != std::string::npos);
}

TEST_CASE("the unit of a percentile may stand at its end") {
  CHECK(Limit("ttft_p99_s=3").text() == "ttft_s_p99 <= 3");
  CHECK(Objective("end_to_end_p50_s").key() == "end_to_end_s_p50");
  CHECK_THROWS_AS(Objective("ttft_p98_s"), InputError);
}

TEST_CASE("methods for stages of training refuse requests") {
  SpaceDescription description;
  description.keys.push_back({"plan.stage_layers", {}, true});
  const Space space(std::move(description), served_base(), Catalog::embedded(), menus());
  for (const char* method : {"dp", "ilp"}) {
    SearchRequest request = served_request({});
    request.method = method;
    CHECK_THROWS_AS(static_cast<void>(search(space, request)), InputError);
  }
}

}  // namespace
}  // namespace orrery
