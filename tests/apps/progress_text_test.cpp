#include <doctest/doctest.h>

#include "apps/progress.hpp"
#include "apps/text_columns.hpp"

using namespace orrery;

TEST_CASE("progress says how many are done, how fast, and how long it still takes") {
  CHECK(progress_text(12, 40, 4) == "12 of 40, 3.0 per second, 9 s left");        // 28 more at 3 a second
  CHECK(progress_text(300, 1000, 2) == "300 of 1000, 150 per second, 5 s left");  // 700 / 150 = 4.7
  CHECK(progress_text(1, 11, 30) == "1 of 11, 2 per minute, 5 min left");         // 10 at 30 s
  CHECK(progress_text(1, 21, 720) == "1 of 21, 0.083 per minute, 4.0 h left");
  CHECK(progress_text(0, 7, 3) == "0 of 7");
  CHECK(progress_text(500, 0, 2) == "500 done, 250 per second");
  CHECK(progress_text(0, 0, 12.4) == "12 s");
}

TEST_CASE("long lines go on below their last column") {
  CHECK(wrapped_lines("short\nlines\n", 10) == "short\nlines\n");
  CHECK(wrapped_lines("  ab  one two three four", 15) == "  ab  one two\n      three\n      four");
  CHECK(wrapped_lines("one two three", 7) == "one two\nthree");
  CHECK(wrapped_lines("aaaaaaaaaaaaaaaa bb", 8) == "aaaaaaaaaaaaaaaa\nbb");  // a word stays whole
}
