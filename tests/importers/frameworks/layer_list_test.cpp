// Lists of layers as frameworks write them.
#include "importers/frameworks/layer_list.hpp"

#include <doctest/doctest.h>

#include <string>

namespace orrery::importers::frameworks {
namespace {

using List = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("expressions of lists in Python have their value") {
  CHECK(python_list("[0]*2+[1]*3") == List{0, 0, 1, 1, 1});
  CHECK(python_list("([1]+[0]*2)*2") == List{1, 0, 0, 1, 0, 0});
  CHECK(python_list("(0, 1)") == List{0, 1});
  CHECK(python_list("[1, 0,]") == List{1, 0});
}

TEST_CASE("anything else is no list, however long it would be") {
  for (const char* text :
       {"", "1", "[0]*", "[0]*-1", "__import__('os')", "[1]*99999999999", "[0", "([0]*3", "[0]*3 x"})
    CHECK(python_list(text).empty());
  CHECK(python_list("(([1]*1000)*1000)*1000").empty());
  CHECK(python_list(std::string(100000, '(')).empty());
}

TEST_CASE("lists with a rule are leading dense layers and a frequency") {
  const auto regular = regular_layers({0, 0, 0, 1, 1, 1});
  CHECK(regular->dense == 3);
  CHECK(regular->frequency == 1);
  const auto second = regular_layers({0, 1, 0, 1});
  CHECK(second->dense == 0);
  CHECK(second->frequency == 2);
  CHECK_FALSE(regular_layers({1, 0, 1, 0}));
  CHECK_FALSE(regular_layers({0, 0}));
}

TEST_CASE("layouts of pipelines have so many layers a stage") {
  CHECK(layout_layers("Et*2|(tt|)*5t|tmL") == List{2, 2, 2, 2, 2, 2, 1, 1});
  CHECK(layout_layers("Et|t|L") == List{1, 1, 0});
  CHECK(layout_layers("E|((t|)*2)*2L") == List{0, 1, 1, 1, 1, 0});
  for (const char* text : {"Ex|L", "(t", "t)", "t*999999999999|L", "((((t)*9999)*9999)*9999)"})
    CHECK(layout_layers(text).empty());
}

TEST_CASE("letters of hybrids are layers, bars end stages") {
  const HybridPattern pattern = hybrid_pattern("M-M|*E/ME/ME");
  CHECK(pattern.letters == "M-M*E");
  CHECK(pattern.stage_layers == List{3, 2});
  CHECK(pattern.further == 2);
  CHECK(hybrid_pattern("MZ").letters.empty());
}

}  // namespace orrery::importers::frameworks
