#include "planner/methods/plan_environment.hpp"

#include <doctest/doctest.h>

namespace orrery {
namespace {

/// Two values of the first key, three of the second, two of the third; valid are 0 = (0, 0, 0), 3 = (0, 1, 1)
/// and 10 = (1, 2, 0).
struct SmallEnvironment {
  Space space{
      read_space(R"({"plan.micro_batch_size": [1, 2], "plan.recompute": "auto", "plan.zero_stage": [0, 1]})",
                 "space.json"),
      {"experiment.json",
       R"({"model": "gpt3-1.3b", "cluster": "dgx-a100-80gb", "plan": {"global_batch_size": 32}})"},
      Catalog::embedded(),
      menus()};
  PlanEnvironment environment{space, candidates()};

  static std::vector<Candidate> candidates() {
    std::vector<Candidate> valid(3);
    valid[0].index = 0;
    valid[1].index = 3;
    valid[2].index = 10;
    return valid;
  }
};

using Mask = std::vector<bool>;

TEST_CASE("masks leave the values with which a valid point can be reached") {
  SmallEnvironment small;
  PlanEnvironment& environment = small.environment;
  environment.reset();
  CHECK(environment.mask() == Mask{true, true});
  environment.take(0);
  CHECK(environment.mask() == Mask{true, true, false});
  environment.take(1);
  CHECK(environment.mask() == Mask{false, true});
  environment.take(1);
  CHECK(environment.candidates()[environment.end()].index == 3);
  environment.reset();
  environment.take(1);
  CHECK(environment.mask() == Mask{false, false, true});
}

TEST_CASE("what is taken out cannot be reached until it is put back") {
  SmallEnvironment small;
  PlanEnvironment& environment = small.environment;
  environment.take_out(2);
  CHECK(environment.left() == 2);
  environment.reset();
  CHECK(environment.mask() == Mask{true, false});
  environment.take_out(0);
  environment.take(0);
  CHECK(environment.mask() == Mask{false, true, false});
  environment.put_back(2);
  environment.reset();
  CHECK(environment.mask() == Mask{true, true});
}

TEST_CASE("an index stands for a value of each key") {
  const SmallEnvironment small;
  CHECK(small.environment.values_at(3) == std::vector<std::size_t>{0, 1, 1});
  CHECK(small.environment.values_at(10) == std::vector<std::size_t>{1, 2, 0});
}

}  // namespace
}  // namespace orrery
