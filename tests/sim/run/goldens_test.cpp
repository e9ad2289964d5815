// Step times of all examples to the picosecond, as written in goldens.txt: the same for every
// compiler and optimisation level. A change of numbers is a change users see: say so in CHANGELOG.md
// under "Numbers changed", then put the printed lines into the file.
#include <doctest/doctest.h>

#include <fstream>
#include <map>

#include "orrery/simulate.hpp"
#include "tests/sim/run/experiments.hpp"
#include "tests/source_dir.hpp"

using namespace orrery;

TEST_CASE("the examples take exactly the recorded time") {
  std::ifstream file(test::source_dir() / "tests/sim/run/goldens.txt");
  std::map<std::string, Picoseconds> recorded;
  std::string name;
  for (Picoseconds time = 0; file >> name >> time;) recorded[name] = time;
  std::size_t examples = 0;
  for (const auto& entry : std::filesystem::directory_iterator(orrery::test::examples_folder())) {
    if (entry.is_directory()) continue;
    const std::string example = entry.path().filename();
    const Picoseconds makespan = simulate(orrery::test::example(example)).makespan_ps;
    CHECK_MESSAGE(recorded[example] == makespan, example, " ", makespan);
    ++examples;
  }
  CHECK(recorded.size() == examples);
}
