#include "reports/picture/characters.hpp"

#include <doctest/doctest.h>

#include "orrery/cluster.hpp"
#include "reports/picture/character_lines.hpp"
#include "reports/text/text_table.hpp"
#include "tests/reports/picture/tiny_run.hpp"

namespace orrery::test {
namespace {

CharacterOptions wide_by(int columns) {
  CharacterOptions options;
  options.columns = columns;
  return options;
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    widest = std::max(widest, visible_width(text.substr(at, end - at)));
    at = end + 1;
  }
  return widest;
}

}  // namespace

TEST_CASE("a schedule in characters: a cell of 5 ms each") {
  const TinyRun run;
  CHECK(draw_schedule(run.view(), run.grid(), wide_by(22)) ==
        "0 F0--F1--......B0----\n"
        "1 .....F0--B0--.......\n"
        "  |0 ms     |50 ms\n"
        "F forward, B backward,\n"
        "then the micro-batch,\n"
        "dots: waiting\n");
  CHECK(draw_schedule(run.view(), run.grid(), wide_by(8 + 50 + 9)) ==
        "stage 0 F0--------F1--------...............B0-------------   70.0 %\n"
        "stage 1 ............F0--------B0--------..................   40.0 %\n"
        "        |0 ms     |20 ms    |40 ms    |60 ms    |80 ms\n"
        "F forward, B backward, then the micro-batch, dots: waiting, right:\n"
        "share of the time that it computes\n");
}

TEST_CASE("characters fit into any width, with colours or without") {
  const TinyRun run;
  Cluster cluster;
  cluster.gpus_per_node = 2;
  cluster.gpu.name = std::string(300, 'x');
  for (int columns = CharacterOptions::kLeastColumns; columns <= CharacterOptions::kMostColumns; ++columns) {
    CAPTURE(columns);
    CharacterOptions options = wide_by(columns);
    options.colour = columns % 2 == 0;
    const auto width = static_cast<std::size_t>(columns);
    CHECK(widest_line(draw_schedule(run.view(), run.grid(), options)) <= width);
    CHECK(widest_line(draw_memory(run.view(), run.grid(), run.report(), options)) <= width);
    CHECK(widest_line(draw_topology(cluster, run.view(), columns)) <= width);
  }
}

TEST_CASE("colours are those of the activities, with letters that can be read on them") {
  CHECK(coloured("F0", Activity::forward) == "\x1b[48;5;25m\x1b[38;5;231mF0\x1b[0m");        // #005faf
  CHECK(coloured("W", Activity::weight_gradient) == "\x1b[48;5;115m\x1b[38;5;16mW\x1b[0m");  // #87d7af
  CHECK(visible_width(coloured("F0", Activity::forward)) == 2);
  const TinyRun run;
  CharacterOptions options = wide_by(22);
  options.colour = true;
  const std::string text = draw_schedule(run.view(), run.grid(), options);
  CHECK(text.starts_with(
      "0 \x1b[48;5;25m\x1b[38;5;231mF0  \x1b[0m\x1b[48;5;25m\x1b[38;5;231mF1  \x1b[0m......"));
}

TEST_CASE("memory in eighths of its limit") {
  const TinyRun run;
  // 3 GB of 4 GB are 6 eighths
  CHECK(draw_memory(run.view(), run.grid(), run.report(), wide_by(22)) ==
        "0 ▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆\n"
        "1\n"
        "  |0 ms     |50 ms\n"
        "full height: the limit\n"
        "of 4.0 GB\n");
  Report exceeded = run.report();
  exceeded.gpu_usable_memory = 1'000'000'000;
  CHECK(draw_memory(run.view(), run.grid(), exceeded, wide_by(80))
            .find("full height: 3.0 GB, more than the limit of 1.0 GB, right: the peak") !=
        std::string::npos);
}

TEST_CASE("a machine of one level and its load") {
  const TinyRun run;
  Cluster cluster;
  cluster.gpus_per_node = 2;
  cluster.gpu.name = "toy";
  cluster.gpu.memory_gb = 4;
  CHECK(draw_topology(cluster, run.view(), 60) ==
        "one node\n"
        "4 nic links of 0.001 GB/s load 0.0 %, busiest 0.0 %\n"
        " node 0\n"
        "┌──────┐\n"
        "│  ■■  │\n"
        "└──────┘\n"
        "■ 2 GPUs: toy, 4 GB\n");
}

}  // namespace orrery::test
