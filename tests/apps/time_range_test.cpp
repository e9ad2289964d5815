#include "apps/time_range.hpp"

#include <doctest/doctest.h>

#include "orrery/error.hpp"

namespace orrery::test {
namespace {

constexpr Picoseconds kTwoSeconds = 2'000'000'000'000;

/// Returns a range of a run of two seconds.
std::string range_in_ps(const std::string& text) {
  const TimeRange range = parse_time_range(text, "--svg-time");
  return std::to_string(range.from_ps(kTwoSeconds)) + " " + std::to_string(range.to_ps(kTwoSeconds));
}

}  // namespace

TEST_CASE("a span of time has units, or shares of the run") {
  CHECK(range_in_ps("") == "0 0");  // 0: the end
  CHECK(range_in_ps("0.5..2s") == "500000000000 2000000000000");
  CHECK(range_in_ps("0.5s..2.0") == "500000000000 2000000000000");
  CHECK(range_in_ps("250..300ms") == "250000000000 300000000000");
  CHECK(range_in_ps("1us..1 ms") == "1000000 1000000000");
  CHECK(range_in_ps("25..50%") == "500000000000 1000000000000");
  CHECK(range_in_ps("50%..") == "1000000000000 0");
  CHECK(range_in_ps("..10%") == "0 200000000000");
  CHECK(range_in_ps("10%..1.5s") == "200000000000 1500000000000");
  CHECK(range_in_ps("0..0.0001ns") == "0 1");  // 0 would be all of it
}

TEST_CASE("what is no span of time is refused with what is allowed") {
  for (const char* text : {"1", "..", "1..1", "2..1", "a..b", "1..2h", "-1..2", "nan..2", "1..inf",
                           "0..1e300s", "1...2", "0..0%"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS(
        static_cast<void>(parse_time_range(text, "--svg-time")),
        (std::string("command line: --svg-time: found \"") + text +
         "\", allowed FROM..TO with units s, ms, us, ns or %, such as 0.5..2s, 250..300ms, 50%.. or ..10%")
            .c_str(),
        InputError);
  }
}

}  // namespace orrery::test
