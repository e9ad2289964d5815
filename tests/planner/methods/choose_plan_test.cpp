// Plans for experiments that leave them open.
#include "planner/methods/choose_plan.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "config/experiment/read_experiment.hpp"
#include "orrery/error.hpp"
#include "orrery/simulate.hpp"
#include "planner/methods/search.hpp"
#include "planner/methods/usual_space.hpp"
#include "tests/sanitized.hpp"

namespace orrery {
namespace {

Experiment chosen(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return read_experiment_text(text, "open.json", overrides, Catalog::embedded(), menus_that_choose_plans())
      .experiment;
}

std::string refusal(const std::string& text, const Menus& names) {
  try {
    (void)read_experiment_text(text, "open.json", {}, Catalog::embedded(), names);
  } catch (const InputError& error) {
    return error.diagnostics().front().text();
  }
  return "";
}

constexpr const char* kOpen =
    R"({"model": "gpt3-6.7b", "cluster": {"base": "dgx-a100-80gb", "nodes": 1}, "plan": {"base": "auto", "global_batch_size": 64}})";

// Figures alone; the tests above search as well under the sanitizers.
TEST_CASE("a plan with the base auto is the optimum of the usual space, with the keys that are given" *
          doctest::skip(test::kSanitized)) {
  const Experiment experiment = chosen(kOpen);
  const std::string given =
      R"({"model": "gpt3-6.7b", "cluster": {"base": "dgx-a100-80gb", "nodes": 1}, "plan": {"global_batch_size": 64}})";
  const BaseExperiment base{"given.json", given};
  const Space space(usual_space(base, Catalog::embedded(), menus()), base, Catalog::embedded(), menus());
  const SearchResult found = search(space, {});
  REQUIRE(found.optimal);
  CHECK(simulate(experiment).makespan_ps == found.best.front().trial.makespan_ps);
  CHECK(experiment.plan.global_batch_size == 64);
  CHECK(experiment.plan_reason.starts_with("the plan is chosen: tensor_parallel "));
  CHECK(simulate(experiment).assumptions.front() == experiment.plan_reason);
  const Experiment pinned = chosen(kOpen, {"plan.tensor_parallel=8"});
  CHECK(pinned.plan.tensor_parallel == 8);
  CHECK(simulate(pinned).makespan_ps >= simulate(experiment).makespan_ps);
}

TEST_CASE("what is read again is the same, and needs no search") {
  const LocatedExperiment read =
      read_experiment_text(kOpen, "open.json", {}, Catalog::embedded(), menus_that_choose_plans());
  const std::string whole = read.positions.resolved(read.experiment);
  const Experiment again =
      read_experiment_text(whole, "whole.json", {}, Catalog::embedded(), menus()).experiment;
  CHECK(again.plan == read.experiment.plan);
  CHECK(simulate(again).makespan_ps == simulate(read.experiment).makespan_ps);
}

// Figures alone; the test above searches as well under the sanitizers.
TEST_CASE("without a plan the simplest is taken where it fits, else the best" *
          doctest::skip(test::kSanitized)) {
  const Experiment small =
      chosen(R"({"model": "gpt3-125m", "cluster": {"base": "dgx-a100-80gb", "nodes": 1}})");
  CHECK(small.plan_reason.empty());
  CHECK(small.plan.data_parallel == 8);
  const Experiment large =
      chosen(R"({"model": "gpt3-13b", "cluster": {"base": "dgx-a100-80gb", "nodes": 2}})");
  CHECK(large.plan_reason.starts_with("no plan is given, and the simplest does not fit: "));
  CHECK(simulate(large).feasible);
  CHECK(large.plan.global_batch_size == 2048);  // 4 Mi tokens of sequences of 2,048
  const Experiment served = chosen(
      R"({"model": "llama3.1-70b", "cluster": "dgx-h100", "inference": {"prompt_tokens": 100, "output_tokens": 10}})");
  CHECK(simulate(served).feasible);
  CHECK(served.plan.gpus() == 8);
}

// Figures alone; other searches take the same paths under the sanitizers.
TEST_CASE("the batch that is assumed suits clusters that are no power of two" *
          doctest::skip(test::kSanitized)) {
  const Experiment three =
      chosen(R"({"model": "gpt3-13b", "cluster": {"base": "dgx-a100-80gb", "nodes": 3}, "plan": "auto"})");
  CHECK(three.plan.global_batch_size == 3 * 512);  // 4 Mi tokens are 2048 sequences; a power of two times 3
  CHECK(three.plan.data_parallel % 3 == 0);
  const Experiment added =
      chosen(R"({"model": "gpt3-13b", "cluster": {"base": "dgx-a100-80gb", "nodes": 3}, "plan": "auto"})",
             {"plan.global_batch_size=48"});
  CHECK(added.plan.global_batch_size == 48);
}

// Figures alone; the tests above search as well under the sanitizers.
TEST_CASE("a search takes a plan that is to be chosen as one of which it varies the keys" *
          doctest::skip(test::kSanitized)) {
  const BaseExperiment open{"open.json", kOpen};
  const Space space(usual_space(open, Catalog::embedded(), menus()), open, Catalog::embedded(), menus());
  CHECK(search(space, {}).best.front().trial.makespan_ps == simulate(chosen(kOpen)).makespan_ps);
}

TEST_CASE("what cannot be chosen says why") {
  CHECK(refusal(R"({"model": "gpt3-175b", "cluster": {"base": "dgx-a100-80gb", "nodes": 1}, "plan": "auto"})",
                menus_that_choose_plans())
            .find("/plan: found auto, but of ") != std::string::npos);
  CHECK(refusal(R"({"model": "gpt3-175c", "cluster": "dgx-a100-80gb", "plan": "auto"})",
                menus_that_choose_plans())
            .find("/model: found \"gpt3-175c\"") != std::string::npos);
  CHECK(refusal(R"({"model": "gpt3-125m", "cluster": "dgx-a100-80gb", "plan": {"base": "autp"}})",
                menus_that_choose_plans())
            .find("/plan/base: found \"autp\", allowed auto") != std::string::npos);
  CHECK(refusal(R"({"model": "gpt3-125m", "cluster": "dgx-a100-80gb", "plan": {"base": "auto"}})", menus())
            .find("found auto where plans are varied") != std::string::npos);
}

}  // namespace
}  // namespace orrery
