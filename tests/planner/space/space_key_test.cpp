#include "planner/space/space_key.hpp"

#include <doctest/doctest.h>

#include "orrery/error.hpp"

namespace orrery {
namespace {

using Values = std::vector<std::string>;

TEST_CASE("values are cut at commas outside brackets and quotes") {
  CHECK(parse_space_key("plan.tensor_parallel=1,2,4").key == "plan.tensor_parallel");
  CHECK(parse_space_key("k=1,2,4").values == Values{"1", "2", "4"});
  CHECK(parse_space_key("k=x").values == Values{"x"});
  CHECK(parse_space_key("k=[1,2],[3, [4,5]]").values == Values{"[1,2]", "[3, [4,5]]"});
  CHECK(parse_space_key("k={\"a\": 1, \"b\": \"}\"},none").values ==
        Values{"{\"a\": 1, \"b\": \"}\"}", "none"});
  CHECK(parse_space_key("k=\"a,b\",'c,d'").values == Values{"\"a,b\"", "'c,d'"});
  CHECK(parse_space_key(R"(k="a\",b",c)").values == Values{R"("a\",b")", "c"});
  CHECK(parse_space_key("name=Kun's,b").values == Values{"Kun's", "b"});  // not a quote within a word
  CHECK(parse_space_key("k=a=b,c").values == Values{"a=b", "c"});
}

TEST_CASE("values may be ranges, with a step or a factor, or all that may fit") {
  CHECK(parse_space_key("k=1..4").values == Values{"1", "2", "3", "4"});
  CHECK(parse_space_key("k=2..9+3").values == Values{"2", "5", "8"});
  CHECK(parse_space_key("k=1..10*3,20").values == Values{"1", "3", "9", "20"});
  CHECK(parse_space_key("k=0.5..1+0.25").values == Values{"0.5", "0.75", "1"});
  CHECK(parse_space_key("k=-2..2+2").values == Values{"-2", "0", "2"});
  CHECK(parse_space_key("k=1..x").values == Values{"1..x"});  // a name
  CHECK(parse_space_key("k=auto").automatic);
  CHECK_FALSE(parse_space_key("k=auto,1").automatic);
  for (const char* text : {"k=4..1", "k=1..8*1", "k=0..8*2", "k=1..8+0", "k=1..1e12"}) {
    INFO(text);
    CHECK_THROWS_AS(static_cast<void>(parse_space_key(text)), InputError);
  }
}

TEST_CASE("what is no list of values is refused") {
  for (const char* text :
       {"", "k", "=1", "k=", "k=1,,2", "k=1,", "k=,1", "k=[1,2", "k=1]", "k=\"a,b", "k={1]]"}) {
    INFO(text);
    CHECK_THROWS_AS(static_cast<void>(parse_space_key(text)), InputError);
  }
}

TEST_CASE("combinations are an odometer whose last wheel turns fastest") {
  const std::vector<SpaceKey> two{{"a", {"1", "2"}}, {"b", {"x", "y", "z"}}};
  REQUIRE(count_combinations(two, 6) == 6);
  CHECK(combination(two, 0) == Values{"1", "x"});
  CHECK(combination(two, 2) == Values{"1", "z"});
  CHECK(combination(two, 3) == Values{"2", "x"});
  CHECK(combination(two, 5) == Values{"2", "z"});
  CHECK(count_combinations({}, 1) == 1);
  CHECK(combination({}, 0).empty());
}

TEST_CASE("too many combinations and keys named twice are refused") {
  const std::vector<SpaceKey> two{{"a", {"1", "2"}}, {"b", {"x", "y", "z"}}};
  CHECK_THROWS_AS(static_cast<void>(count_combinations(two, 5)), InputError);
  CHECK_THROWS_AS(static_cast<void>(count_combinations({{"a", {"1"}}, {"a", {"2"}}}, 100)), InputError);
  // 100^12 does not fit into 64 bits.
  std::vector<SpaceKey> many;
  for (int i = 0; i < 12; ++i) many.push_back({std::to_string(i), Values(100, "v")});
  CHECK_THROWS_AS(static_cast<void>(count_combinations(many, 10'000)), InputError);
}

}  // namespace
}  // namespace orrery
