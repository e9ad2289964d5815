// Checks that an option a plan leaves off is named with the step time that it would give.
#include "studies/sensitivity/costly_defaults.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "config/experiment/read_experiment.hpp"
#include "orrery/simulate.hpp"

namespace orrery {
namespace {

LocatedExperiment located(const std::string& plan) {
  return read_experiment_text(
      R"({"model": "llama3.1-8b", "cluster": {"base": "dgx-h100", "nodes": 2}, "plan": {"global_batch_size": 32, )" +
          plan + "}}",
      "costly.json", {}, Catalog::embedded(), menus());
}

std::vector<std::string> costly(const LocatedExperiment& read) {
  return costly_defaults(read.experiment, simulate(read.experiment),
                         [&](const std::string& key) { return read.positions.changed(key); });
}

TEST_CASE("sequence parallelism that is off is named with what it would take, as a run with it says") {
  const LocatedExperiment read = located(R"("tensor_parallel": 8, "overlap_gradient_reduce": true)");
  const std::vector<std::string> sentences = costly(read);
  REQUIRE(sentences.size() == 1);
  const double faster = simulate(read.positions.changed("plan.sequence_parallel=true")).step_time_s();
  CHECK(sentences.front().find(fmt::format("with plan.sequence_parallel=true a step takes {:.4g} s, ",
                                           faster)) != std::string::npos);
  CHECK(costly(located(R"("tensor_parallel": 8, "overlap_gradient_reduce": true, "sequence_parallel": true)"))
            .empty());
}

TEST_CASE("gradients that wait for the end are named where that costs something") {
  const auto names = [](const std::vector<std::string>& sentences) {
    return std::ranges::any_of(sentences, [](const std::string& sentence) {
      return sentence.find("plan.overlap_gradient_reduce=true") != std::string::npos;
    });
  };
  // 16 GB of gradients after two micro-batches of each replica, and after none: one GPU has no partner.
  CHECK(names(costly(located(R"("zero_stage": 1, "recompute": "full", "micro_batch_size": 1)"))));
  CHECK_FALSE(names(costly(located(R"("tensor_parallel": 8, "pipeline_parallel": 2)"))));
}

}  // namespace
}  // namespace orrery
