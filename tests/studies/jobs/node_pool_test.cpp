// Placements of jobs by hand: leaves of four nodes with two GPUs each.
#include "studies/jobs/node_pool.hpp"

#include <doctest/doctest.h>

using namespace orrery;

namespace {

using Numbers = std::vector<std::uint32_t>;

NodePool three_leaves() { return {12, 2, 4}; }

Numbers found(const NodePool& pool, std::int64_t gpus, JobPlacement placement) {
  Numbers out;
  if (const auto place = pool.find(gpus, placement))
    for (const GpuId gpu : *place) out.push_back(index(gpu));
  return out;
}

void take(NodePool& pool, const Numbers& gpus) {
  std::vector<GpuId> ids;
  for (const std::uint32_t gpu : gpus) ids.push_back(GpuId{gpu});
  pool.take(ids);
}

/// Nodes 0 and 4 to 6 are taken: leaf 0 has three idle nodes, leaf 1 one, leaf 2 four.
NodePool partly_taken() {
  NodePool pool = three_leaves();
  take(pool, {0, 1, 8, 9, 10, 11, 12, 13});
  return pool;
}

}  // namespace

TEST_CASE("whole nodes go where the placement says") {
  const NodePool pool = partly_taken();
  CHECK(found(pool, 4, JobPlacement::packed) == Numbers{16, 17, 18, 19});
  CHECK(found(pool, 4, JobPlacement::best_fit) == Numbers{2, 3, 4, 5});
  CHECK(found(pool, 6, JobPlacement::spread) == Numbers{2, 3, 14, 15, 16, 17});
  CHECK(found(pool, 2, JobPlacement::rail_aware) == Numbers{14, 15});
  CHECK(pool.free_gpus() == 16);
}

TEST_CASE("rail-aware jobs wait rather than cross a leaf") {
  const NodePool pool = partly_taken();
  // Five nodes: all of leaf 2 and the one of leaf 1. Six: leaf 2 and two of leaf 0.
  CHECK(found(pool, 10, JobPlacement::rail_aware) == Numbers{14, 15, 16, 17, 18, 19, 20, 21, 22, 23});
  CHECK(found(pool, 12, JobPlacement::rail_aware) == Numbers{2, 3, 4, 5, 16, 17, 18, 19, 20, 21, 22, 23});
  NodePool fuller = partly_taken();
  take(fuller, {16, 17});
  CHECK(found(fuller, 8, JobPlacement::rail_aware).empty());
  CHECK(found(fuller, 8, JobPlacement::packed).size() == 8);
}

TEST_CASE("parts of nodes") {
  NodePool pool = three_leaves();
  take(pool, {5});
  CHECK(found(pool, 1, JobPlacement::packed) == Numbers{0});
  CHECK(found(pool, 1, JobPlacement::best_fit) == Numbers{4});
  CHECK(found(pool, 1, JobPlacement::rail_aware) == Numbers{4});
  CHECK(found(pool, 1, JobPlacement::spread) == Numbers{0});
  // A node and a half: below one leaf, and best taken from the node that has no more.
  CHECK(found(pool, 3, JobPlacement::best_fit) == Numbers{0, 1, 4});
  CHECK(found(pool, 3, JobPlacement::packed) == Numbers{8, 9, 10});
}

TEST_CASE("free GPUs at the wrong places do not make a node") {
  NodePool pool(2, 2, 2);
  take(pool, {0, 2});
  CHECK(pool.free_gpus() == 2);
  CHECK(found(pool, 2, JobPlacement::packed).empty());
  CHECK(found(pool, 1, JobPlacement::packed) == Numbers{1});
}

TEST_CASE("an empty cluster takes every job that is no larger") {
  // Seven nodes below leaves of three: the last one has a single node.
  const NodePool pool(7, 4, 3);
  for (std::int64_t gpus = 1; gpus <= 28; ++gpus)
    for (const JobPlacement placement :
         {JobPlacement::packed, JobPlacement::best_fit, JobPlacement::spread, JobPlacement::rail_aware}) {
      CAPTURE(gpus);
      CHECK(found(pool, gpus, placement).size() == static_cast<std::size_t>(gpus));
    }
}
