// Points that only their simulation finds out to be impossible: they are counted, and the search goes on.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "orrery/error.hpp"
#include "planner/methods/search.hpp"
#include "planner/methods/write_search.hpp"
#include "planner/space/points.hpp"
#include "tests/planner/methods/found_by.hpp"

namespace orrery {

using test::found_by;

namespace {

/// Every micro-batch is written: four million of one sample are 32 operations each and more, beyond the 50
/// million that fit, those of 4,096 samples are 1,024.
constexpr const char* kEveryMicroBatch =
    R"({"model": {"layers": 2, "hidden": 64, "heads": 2, "vocab": 256, "seq_length": 16},
        "cluster": {"base": "dgx-a100-80gb", "nodes": 1, "gpus_per_node": 2},
        "plan": {"pipeline_parallel": 2, "global_batch_size": 4194304}, "simulation": {"folding": "off"}})";

Space space_of(const std::string& description) {
  return {read_space(description, "space.json"),
          {"experiment.json", kEveryMicroBatch},
          Catalog::embedded(),
          menus()};
}

bool tells(const SearchResult& result, const std::string& part) {
  return std::ranges::any_of(result.rejected,
                             [&](const auto& loser) { return loser.first.find(part) != std::string::npos; });
}

TEST_CASE("a point that cannot be simulated is counted, and the others are searched") {
  for (const char* method : {"exhaustive", "zeroth-order", "rl"}) {
    INFO(method);
    const SearchResult result = found_by(method, space_of(R"({"plan.micro_batch_size": [1, 4096, 8192]})"));
    CHECK(result.refused == 1);
    CHECK(result.simulated == 2);
    REQUIRE(result.best.size() == 2);
    CHECK(result.best.front().trial.values.front() != "1");
    CHECK(tells(result, "could not be simulated, by plan (programs of "));
  }
}

TEST_CASE("stages are divided for the plans that can be simulated") {
  const SearchResult result =
      found_by("dp", space_of(R"({"plan.micro_batch_size": [1, 4096], "plan.stage_layers": ["auto"]})"));
  CHECK(result.refused == 1);
  CHECK(result.best.size() == 1);
}

TEST_CASE("where no plan can be simulated, the search says why") {
  const Space space = space_of(R"({"plan.micro_batch_size": [1, 2]})");
  try {
    static_cast<void>(found_by("exhaustive", space));
    FAIL("a plan was found");
  } catch (const InputError& error) {
    CHECK(std::string(error.what())
              .starts_with("experiment.json: none of 2 plans that fit could be simulated; 2 could not be "
                           "simulated, by plan "
                           "(programs of "));
  }
}

}  // namespace
}  // namespace orrery
