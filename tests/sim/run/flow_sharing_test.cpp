// Transfers that share links, computed by hand, on a ring, a grid and a fat tree.
#include <doctest/doctest.h>

#include "sim/engine/engine.hpp"
#include "sim/engine/task_graph_builder.hpp"
#include "sim/network/flow_network.hpp"
#include "topologies/common/topologies.hpp"

using namespace orrery;

namespace {

constexpr std::int64_t kRate = 3'000'000'000;  // 24 Gb/s: halves and thirds are whole numbers
constexpr Picoseconds kMs = 1'000'000'000;

Cluster one_gpu_nodes(const char* kind, std::vector<std::int64_t> shape, std::int64_t nodes,
                      double oversubscription = 1) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.fabric.kind = kind;
  cluster.fabric.nic_gbps = 24;
  cluster.fabric.shape = std::move(shape);
  cluster.fabric.oversubscription = oversubscription;
  return cluster;
}

struct Send {
  std::uint32_t from, to;
  Bytes units;  ///< of 3 MB: a link moves one unit a ms
};

/// Finish times in ms of messages that all start at 0.
std::vector<double> finishes(const Cluster& cluster, const std::vector<Send>& sends) {
  const auto topology = build_topology(cluster);
  TaskGraphBuilder builder;
  for (const Send& send : sends) {
    std::vector<LinkId> route;
    topology->route(GpuId{send.from}, GpuId{send.to}, route);
    builder.add_task(builder.add_message(send.units * 3'000'000, kRate, 0, route), {});
  }
  const TaskGraph graph = std::move(builder).finish();
  FlowNetwork network(topology->links());
  std::vector<double> result;
  for (const Picoseconds finish : run(graph, network).finish_ps) {
    result.push_back(static_cast<double>(finish) / static_cast<double>(kMs));
  }
  return result;
}

}  // namespace

TEST_CASE("ring of 6: a long message meets two short ones") {
  // 0>3 goes 0-1-2-3 (ties go up); 1>2 and 2>3 take one of its links each, at 1 unit/ms.
  // Until 8 ms all run at 1/2: 1>2 has moved its 4 units. 0>3 stays at 1/2 because of 2>3.
  // At 12 ms 2>3 has moved 6 units; 0>3 has moved 6 of 10 units and goes on alone: 4 ms more.
  CHECK(finishes(one_gpu_nodes("ring", {}, 6), {{0, 3, 10}, {1, 2, 4}, {2, 3, 6}}) ==
        std::vector<double>{16, 8, 12});
}

TEST_CASE("grid 3 x 3: three messages through one link, then two") {
  // Row-major nodes, dimension 0 first: 0>7 goes 0-3-6-7, 3>7 goes 3-6-7, 3>6 goes 3-6.
  // Link 3-6 carries all three at 1/3: at 9 ms 3>6 has its 3 units. The other two share 3-6 and 6-7 at 1/2:
  // 0>7 has 3 of 6 units and needs 6 ms more, 3>7 then has 6 of 9 units and needs 3 ms alone.
  CHECK(finishes(one_gpu_nodes("grid", {3, 3}, 9), {{0, 7, 6}, {3, 7, 9}, {3, 6, 3}}) ==
        std::vector<double>{15, 18, 9});
}

TEST_CASE("fat tree 2 leaves of 4, oversubscribed 4:1: four messages through one uplink") {
  // One uplink of 1 unit/ms per leaf. Four messages of 2 units cross at 1/4: 8 ms. A message inside the
  // leaf to a host that also receives has that host's port for 3/4: 3 units in 4 ms.
  const Cluster cluster = one_gpu_nodes("fat-tree", {4, 2}, 8, 4);
  CHECK(finishes(cluster, {{0, 4, 2}, {1, 5, 2}, {2, 6, 2}, {3, 7, 2}}) == std::vector<double>{8, 8, 8, 8});
  CHECK(finishes(cluster, {{0, 4, 2}, {1, 5, 2}, {2, 6, 2}, {3, 7, 2}, {5, 4, 3}}) ==
        std::vector<double>{8, 8, 8, 8, 4});
}
