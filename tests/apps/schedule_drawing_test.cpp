#include "apps/schedule_drawing.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace orrery;

namespace {

std::string draw(const char* name, const ScheduleShape& shape, int columns = 80, std::int64_t blocks = 0) {
  return draw_schedule({time_schedule(*find_pipeline_schedule(name), shape), shape.chunks, columns, blocks});
}

}  // namespace

TEST_CASE("a schedule is drawn with a line for each rank and a cell for each unit of time") {
  CHECK(draw("1f1b", {2, 2, 1}) ==
        "time   0\n"
        "rank 0 F0 F1 .  .  B0 -- .  B1 --\n"
        "rank 1 .  F0 B0 -- F1 B1 --\n");
}

TEST_CASE("letters tell chunks apart, and halves of backward passes are passes") {
  CHECK(draw("zb-v", {2, 3, 2}) ==
        "time   0\n"
        "rank 0 F0a F1a F2a F0b I0b W0b F1b I1b W1b I0a W0a F2b I2b W2b I1a W1a I2a W2a\n"
        "rank 1 .   F0a F0b F1a F1b I0b W0b F2a I0a W0a F2b I1b W1b I1a I2b I2a W1a W2b\n"
        "\n"
        "time   18\n"
        "rank 0\n"
        "rank 1 W2a\n");
}

TEST_CASE("a drawing goes on below where a line is full, and says what it leaves out") {
  CHECK(draw("gpipe", {2, 2, 1}, 19) ==
        "time   0\n"
        "rank 0 F0 F1 .  .\n"
        "rank 1 .  F0 F1 B1\n"
        "\n"
        "time   4\n"
        "rank 0 .  B1 -- B0\n"
        "rank 1 -- B0 --\n"
        "\n"
        "time   8\n"
        "rank 0 --\n"
        "rank 1\n");
  CHECK(draw("gpipe", {2, 2, 1}, 19, 1) ==
        "time   0\n"
        "rank 0 F0 F1 .  .\n"
        "rank 1 .  F0 F1 B1\n"
        "... 5 more units of time; --all draws them\n");
}
