#include "reports/picture/time_text.hpp"

#include <doctest/doctest.h>

namespace orrery::test {
namespace {

std::string labels_of_ticks(Picoseconds from, Picoseconds to, std::int64_t most) {
  std::string text;
  for (const TimeTick& tick : time_ticks(from, to, most)) text += tick.label + ";";
  return text;
}

}  // namespace

TEST_CASE("times have the largest unit that they are one of, and three decimals at most") {
  CHECK(time_text(0) == "0 s");
  CHECK(time_text(24'252'400'000'000) == "24.252 s");
  CHECK(time_text(4'000'000'000'000) == "4 s");
  CHECK(time_text(300'764'000'000) == "300.764 ms");
  CHECK(time_text(1'500'000) == "1.5 us");
  CHECK(time_text(2'000) == "2 ns");
  CHECK(time_text(7) == "7 ps");
}

TEST_CASE("an axis names round times, in the unit of its end") {
  CHECK(labels_of_ticks(0, 4'000'000'000'000, 10) ==
        "0.0 s;0.5 s;1.0 s;1.5 s;2.0 s;2.5 s;3.0 s;3.5 s;4.0 s;");
  CHECK(labels_of_ticks(0, 300'000'000'000, 3) == "0 ms;100 ms;200 ms;300 ms;");
  // 0.2 ms from 1.5 s on, five steps of 50 us: four of them and a little fit
  CHECK(labels_of_ticks(1'500'010'000'000, 1'500'210'000'000, 5) ==
        "1.50005 s;1.50010 s;1.50015 s;1.50020 s;");
}

TEST_CASE("a window between two round times has no ticks, and one ps has some") {
  CHECK(labels_of_ticks(1, 2, 1) == "1 ps;2 ps;");
  CHECK(labels_of_ticks(0, 9'000'000'000'000'000'000, 2) == "0 s;5000000 s;");
}

}  // namespace orrery::test
