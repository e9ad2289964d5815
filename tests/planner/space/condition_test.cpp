#include "planner/space/condition.hpp"

#include <doctest/doctest.h>

namespace orrery {
namespace {

using Given = std::vector<ConditionValue>;

bool holds(const char* text, const Given& values = {}) { return Condition(text).holds(values); }

TEST_CASE("operators bind as in other languages") {
  CHECK(holds("1 + 2 * 3 == 7"));
  CHECK(holds("(1 + 2) * 3 == 9"));
  CHECK(holds("10 - 4 - 3 == 3"));  // from left to right
  CHECK(holds("7 % 4 == 3 and -2 < -1"));
  CHECK(holds("true or false and false"));  // and binds more strongly
  CHECK_FALSE(holds("(true or false) and false"));
  CHECK(holds("not 1 > 2 and 3 >= 3"));
  CHECK(holds("not not true"));
  CHECK(holds("3 in [1, 2, 1 + 2]"));
  CHECK_FALSE(holds("\"a\" in ['b', \"c\"]"));
  CHECK(holds("1 / 0 > 5"));
  CHECK_FALSE(holds("1 % 0 == 1 % 0"));
}

TEST_CASE("keys are named once and take their values in that order") {
  const Condition condition("plan.a * plan.b <= 8 and plan.c != \"full\" and plan.a > 1");
  CHECK(condition.keys() == std::vector<std::string>{"plan.a", "plan.b", "plan.c"});
  CHECK(condition.holds(Given{2.0, 4.0, "none"}));
  CHECK_FALSE(condition.holds(Given{2.0, 8.0, "none"}));
  CHECK_FALSE(condition.holds(Given{2.0, 4.0, "full"}));
  CHECK_FALSE(condition.holds(Given{1.0, 4.0, "none"}));
}

TEST_CASE("a value that is there or not is compared with texts, and with nothing else") {
  const Condition condition("plan.recompute == \"full\"");
  CHECK_FALSE(condition.holds(Given{std::monostate{}}));  // an object, say
  CHECK_FALSE(condition.holds(Given{3.0}));
  CHECK_THROWS_AS(static_cast<void>(Condition("plan.a < 3").holds(Given{"x"})), ConditionError);
  CHECK_THROWS_AS(static_cast<void>(Condition("plan.a").holds(Given{3.0})), ConditionError);
  CHECK_THROWS_AS(static_cast<void>(Condition("true == 1").holds({})), ConditionError);
}

TEST_CASE("what is no condition is refused at its place") {
  const auto place = [](const std::string& text) -> std::size_t {
    try {
      const Condition condition(text);
    } catch (const ConditionError& error) {
      return error.at;
    }
    return std::string::npos;
  };
  CHECK(place("") == 0);
  CHECK(place("1 +") == 3);
  CHECK(place("1 = 2") == 2);
  CHECK(place("plan.a && plan.b") == 7);
  CHECK(place("(1 > 2") == 6);
  CHECK(place("\"open") == 0);
  CHECK(place("1x") == 1);
  CHECK(place("1 in 2") == 5);
  CHECK(place("or") == 0);
  CHECK(place("\x80") == 0);
  CHECK(place(std::string(100'000, '(')) == 0);  // too long
  CHECK(place(std::string(5'000, '(')) != std::string::npos);
  CHECK(place(std::string(5'000, '-')) != std::string::npos);
}

}  // namespace
}  // namespace orrery
