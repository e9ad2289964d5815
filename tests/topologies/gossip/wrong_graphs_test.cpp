#include "tests/topologies/gossip/graphs.hpp"

namespace orrery::test {
namespace {

DataParallelSync lists(std::vector<std::vector<std::int64_t>> neighbours,
                       SyncMethod method = SyncMethod::gossip) {
  DataParallelSync sync = sync_of("ring", method);
  sync.neighbours = std::move(neighbours);
  return sync;
}

}  // namespace

#define CHECK_PROBLEM(sync, size, expected) \
  CHECK(diagnostic_of(sync, size).find(expected) != std::string::npos)

TEST_CASE("graphs that are none") {
  const GossipSize three{3, 1, 1, 0};
  CHECK_PROBLEM(sync_of("circle"), three, "/data_parallel_sync/topology: found \"circle\"; allowed are ring");
  CHECK_PROBLEM(sync_of("hypercube"), three, "over 3 workers; allowed are powers of two");
  CHECK_PROBLEM(sync_of("one-peer-hypercube"), three, "allowed are powers of two");
  CHECK_PROBLEM(sync_of("inner-outer-ring"), three, "found \"inner-outer-ring\" with 1 workers per node");
  CHECK_PROBLEM(sync_of("complete"), (GossipSize{20'000, 1, 1, 0}), "399980000 edges; allowed are at most");
  CHECK_PROBLEM(lists({{1}, {0}}), three, "/topology: found lists for 2 workers; allowed is one for each");
  CHECK_PROBLEM(lists({{1}, {3}, {0}}), three, "/topology/1: found 3; allowed are workers 0 to 2");
  CHECK_PROBLEM(lists({{1}, {1}, {0}}), three, "/topology/1: found 1, the worker itself");
  CHECK_PROBLEM(lists({{1, 1}, {0}, {0}}), three, "/topology/0: found 1 twice");
  DataParallelSync base = sync_of("base-k");
  base.peers = 0;
  CHECK_PROBLEM(base, three, "/data_parallel_sync/peers: found 0; allowed is at least 1");
}

TEST_CASE("shapes that do not fit") {
  DataParallelSync grid = sync_of("grid");
  grid.shape = {3, 4};
  CHECK_PROBLEM(grid, (GossipSize{16, 1, 1, 0}),
                "/data_parallel_sync/shape: found 3 x 4; allowed are extents whose product is the number of "
                "workers, 16");
  grid.shape = {2, 3, 2};
  CHECK(diagnostic_of(grid, {12, 1, 1, 0}).empty());
  grid.shape = {4'000'000'000, 4'000'000'000};
  CHECK_PROBLEM(grid, (GossipSize{16, 1, 1, 0}), "/data_parallel_sync/shape");
}

TEST_CASE("graphs in which somebody is not heard") {
  CHECK_PROBLEM(lists({{1}, {0}, {3}, {2}}), (GossipSize{4, 1, 1, 0}),
                "/data_parallel_sync/topology: found a disconnected graph: nothing gets from worker 2 to "
                "worker 0");
  // Worker 2 receives from all, but no worker receives from it.
  CHECK_PROBLEM(lists({{1}, {0}, {0}}, SyncMethod::push_sum), (GossipSize{3, 1, 1, 0}),
                "nothing gets from worker 2 to worker 0");
  DataParallelSync sparse = sync_of("erdos-renyi");
  sparse.probability = 0.001;
  CHECK_PROBLEM(sparse, (GossipSize{30, 1, 1, 0}),
                "/data_parallel_sync/topology: found a disconnected graph");
}

TEST_CASE("weights that do not fit the graph") {
  const GossipSize three{3, 1, 1, 0};
  CHECK_PROBLEM(lists({{1, 2}, {0}, {1}}), three, "allowed are the method push-sum, or a graph whose edges");
  CHECK(diagnostic_of(lists({{1, 2}, {0}, {1}}, SyncMethod::push_sum), three).empty());
  DataParallelSync star = sync_of("star");
  star.weights = MixingWeights::uniform;
  CHECK_PROBLEM(star, (GossipSize{5, 1, 1, 0}), "/data_parallel_sync/weights: found weights that are not");
  CHECK_PROBLEM(star, (GossipSize{5, 1, 1, 0}), "or the weights metropolis-hastings");
  DataParallelSync directed = sync_of("exponential");
  directed.weights = MixingWeights::metropolis_hastings;
  CHECK_PROBLEM(directed, (GossipSize{5, 1, 1, 0}), "found \"metropolis-hastings\" on a directed graph");
  DataParallelSync base = sync_of("base-k");
  base.weights = MixingWeights::uniform;
  CHECK_PROBLEM(base, (GossipSize{5, 1, 1, 0}), "which has its own; allowed is \"auto\"");
}

}  // namespace orrery::test
