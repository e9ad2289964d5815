#include "planner/methods/genome.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

namespace orrery {
namespace {

/// Keys stand by name: bucket_mb, recompute, tensor_parallel, zero_stage.
Space bred_space() {
  return {read_space(R"({"plan.tensor_parallel": [1, 2, 4, 8], "plan.recompute": "auto", "plan.zero_stage": 1,
                         "plan.bucket_mb": "1~100"})",
                     "space.json"),
          {"experiment.json",
           R"({"model": "gpt3-1.3b", "cluster": "dgx-a100-80gb", "plan": {"global_batch_size": 32}})"},
          Catalog::embedded(),
          menus(),
          Intervals::allowed};
}

TEST_CASE("genomes stand for values of their keys") {
  const Space space = bred_space();
  const Breeder breeder(space);
  CHECK(breeder.values({0, 0, 2, 0}) == std::vector<std::string>{"1", "none", "4", "1"});
  // Half of the way by ratios: 100^0.5.
  CHECK(breeder.values({0.5, 2, 3, 0}) == std::vector<std::string>{"10", "full", "8", "1"});
}

TEST_CASE("random genomes reach all values and stay within them") {
  const Space space = bred_space();
  const Breeder breeder(space);
  SplitMix64 random(1);
  std::set<double> degrees;
  for (int i = 0; i < 200; ++i) {
    const Genome genome = breeder.random(random);
    degrees.insert(genome[2]);
    CHECK(genome[0] >= 0);
    CHECK(genome[0] < 1);
  }
  CHECK(degrees == std::set<double>{0, 1, 2, 3});
}

TEST_CASE("a child differs from equal parents in one key at least, and in none without a choice") {
  const Space space = bred_space();
  const Breeder breeder(space);
  SplitMix64 random(2);
  int neighbours = 0;
  int farther = 0;
  for (int i = 0; i < 1000; ++i) {
    const Genome parent = breeder.random(random);
    const Genome child = breeder.child(parent, parent, random);
    CHECK(child != parent);
    CHECK(child[3] == 0);
    for (std::size_t k = 1; k < 3; ++k) {
      CHECK(child[k] >= 0);
      CHECK(child[k] < static_cast<double>(space.keys()[k].values.size()));
    }
    CHECK(child[0] >= 0);
    CHECK(child[0] <= 1);
    if (std::abs(child[2] - parent[2]) == 1) ++neighbours;
    if (std::abs(child[2] - parent[2]) > 1) ++farther;
  }
  CHECK(neighbours > 2 * farther);
  CHECK(farther > 0);
}

TEST_CASE("a child has each key of one of its parents, but where it is changed") {
  const Space space = bred_space();
  const Breeder breeder(space);
  SplitMix64 random(3);
  int from_second = 0;
  for (int i = 0; i < 400; ++i)
    if (breeder.child({0.25, 0, 0, 0}, {0.75, 2, 3, 0}, random)[0] == 0.75) ++from_second;
  // Half of the children have it of the second, of which 1 - (1/3 + 2/3 x 1/3) = 4/9 are left as they are.
  CHECK(from_second > 60);
  CHECK(from_second < 120);
}

}  // namespace
}  // namespace orrery
