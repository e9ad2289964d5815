// Collectives on built clusters: what NICs, rails and NVLinks let through.
#include <doctest/doctest.h>

#include <memory>

#include "collectives/small_networks.hpp"
#include "topologies/topologies.hpp"

using namespace orrery;
using namespace orrery::test;

namespace {

constexpr Bytes kBytes = 1'000'000'000;

/// 8 nodes of 8 GPUs with 360 GB/s NVSwitch ports and 8 NICs of 50 GB/s.
std::unique_ptr<Topology> rails(double oversubscription) {
  Cluster cluster;
  cluster.gpus_per_node = 8;
  cluster.nodes = 8;
  cluster.node = {"nvswitch", 450, 1, 0.8};
  cluster.fabric.kind = "rail-optimized";
  cluster.fabric.nics_per_node = 8;
  cluster.fabric.nic_gbps = 400;
  cluster.fabric.latency_us = 2;
  cluster.fabric.oversubscription = oversubscription;
  return build_topology(cluster);
}

Picoseconds data_time(const TransferPrice& price) {
  Picoseconds sum = 0;
  for (const Leg& leg : price.legs) sum += leg.alone_ps;
  return sum;
}

}  // namespace

TEST_CASE("rings over nodes take all NICs of each node, and no link between rails") {
  // Per node 8 NICs: 2 * 63/64 * 1e9 bytes at 400 GB/s = 4.921875 ms; NVLink ports would take
  // 7/8 * 1.96875e9 bytes at 360 GB/s = 4.785 ms.
  for (const double oversubscription : {1.0, 4.0}) {
    const auto topology = rails(oversubscription);
    CHECK(data_time(price(*topology, "ring", Collective::all_reduce, 64, kBytes)) == 4'921'875'000);
  }
}

TEST_CASE("trees over nodes take all NICs of each node") {
  // An inner node sends 2 M in all: 2e9 bytes at 400 GB/s.
  CHECK(data_time(price(*rails(4), "tree", Collective::all_reduce, 64, kBytes)) == 5'000'000'000);
}

TEST_CASE("a tensor group stays on the NVLinks of its node") {
  // 2 * 7/8 * 1e9 bytes at 360 GB/s = 4.8611 ms: a bus bandwidth of 360 GB/s.
  const TransferPrice tensor = price(*rails(1), "auto", Collective::all_reduce, 8, kBytes);
  CHECK(tensor.algorithm == "ring");
  CHECK(data_time(tensor) == 4'861'111'111);
  CHECK(tensor.legs[0].latency_ps == 14'000'000);
}

TEST_CASE("hybrid cube mesh: rings use every NVLink of a V100, 6 of 25 GB/s each way") {
  Cluster cluster;
  cluster.gpus_per_node = 8;
  cluster.node = {"hybrid-cube-mesh", 25, 1, 1};
  const auto topology = build_topology(cluster);
  // 2 * 7/8 * 1e9 bytes at 150 GB/s = 11.6667 ms.
  CHECK(data_time(price(*topology, "ring", Collective::all_reduce, 8, kBytes)) == 11'666'666'667);
}
