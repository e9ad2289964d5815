// Keys that may have all numbers between two.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "orrery/error.hpp"
#include "planner/space/space.hpp"

namespace orrery {
namespace {

constexpr const char* kIntervalBase = R"({"model": "gpt3-1.3b", "cluster": "dgx-a100-80gb",
  "plan": {"global_batch_size": 32}})";

/// Where no interval is allowed.
Space listed_space(const std::string& description) {
  return {read_space(description, "space.json"),
          {"experiment.json", kIntervalBase},
          Catalog::embedded(),
          menus()};
}

std::string interval_refusal(const std::string& description) {
  try {
    static_cast<void>(listed_space(description));
  } catch (const InputError& error) {
    return error.diagnostics().front().text();
  }
  return "";
}

TEST_CASE("an interval is all numbers between its ends, by ratios where they are above zero") {
  const SpaceKey key = parse_space_key("cluster.fabric.nic_gbps=50~800");
  REQUIRE(key.interval.has_value());
  CHECK(key.values.empty());
  CHECK(key.interval->at(0) == "50");
  CHECK(key.interval->at(0.5) == "200");  // 50 x 16^0.5
  CHECK(key.interval->at(1) == "800");
  const Interval signed_one{-10, 30};
  CHECK(signed_one.at(0.25) == "0");  // -10 + 40 / 4
  const Interval whole{1, 16, true};
  CHECK(whole.at(0.4) == "3");  // 16^0.4 = 3.03
  CHECK(parse_space_key("k=0.5~2.5").interval->to == 2.5);
}

TEST_CASE("intervals grow, stand alone, and have no combinations") {
  for (const char* text : {"k=9~9", "k=9~1", "k=1,2~3", "k=2~3,1"}) {
    INFO(text);
    CHECK_THROWS_AS(static_cast<void>(parse_space_key(text)), InputError);
  }
  for (const char* text : {"k=~", "k=1~", "k=a~b", "k=1~2~3"}) {  // names like others
    INFO(text);
    CHECK_FALSE(parse_space_key(text).interval.has_value());
  }
  CHECK_THROWS_WITH_AS(
      static_cast<void>(count_combinations({parse_space_key("k=1~9")}, 100)),
      "command line: --vary: found all numbers from 1 to 9 for \"k\", allowed a list of values "
      "there, or a range with steps, such as 1..8+1",
      InputError);
}

TEST_CASE("an interval is a choice of keys that are numbers, where it is allowed") {
  const auto space = [](const std::string& description) {
    return Space(read_space(description, "space.json"), {"experiment.json", kIntervalBase},
                 Catalog::embedded(), menus(), Intervals::allowed);
  };
  const Space both = space(R"({"cluster.fabric.nic_gbps": "50~800",
      "cluster.nodes": {"from": 1, "to": 8, "continuous": true}, "plan.tensor_parallel": [1, 2]})");
  CHECK(both.continuous());
  CHECK(both.size() == 2);
  CHECK_FALSE(both.keys()[0].interval->whole);
  CHECK(both.keys()[1].interval->whole);
  CHECK(both.keys()[0].values == std::vector<std::string>{"50"});
  CHECK_FALSE(listed_space(R"({"plan.tensor_parallel": [1, 2]})").continuous());
  CHECK_THROWS_WITH_AS(
      space(R"({"plan.recompute": "1~2"})"),
      "found an interval for \"plan.recompute\", which takes no numbers: allowed a list of values",
      InputError);
  CHECK(interval_refusal(R"({"plan.bucket_mb": "1~9"})").find("found all numbers from 1 to 9") !=
        std::string::npos);
  CHECK(interval_refusal(R"({"plan.bucket_mb": {"from": 1, "to": 9, "step": 2, "continuous": true}})")
            .find("one of step, factor and continuous") != std::string::npos);
  CHECK(interval_refusal(R"({"plan.bucket_mb": {"from": 1, "to": 9, "continuous": 3}})")
            .find("allowed true or false") != std::string::npos);
}

}  // namespace
}  // namespace orrery
