// Tests collectives on built clusters: the limits of NICs, rails and NVLinks.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "orrery/error.hpp"
#include "tests/workloads/collectives/small_networks.hpp"
#include "topologies/common/topologies.hpp"

using namespace orrery;
using namespace orrery::test;

namespace {

constexpr Bytes kBytes = 1'000'000'000;

/// 8 nodes of 8 GPUs with NVSwitch ports of 0.8 `port_gb_per_s` and 8 NICs of 50 GB/s.
std::unique_ptr<Topology> rails(double oversubscription, double port_gb_per_s = 450) {
  Cluster cluster;
  cluster.gpus_per_node = 8;
  cluster.nodes = 8;
  cluster.node = {"nvswitch", port_gb_per_s, 1, 0.8};
  cluster.fabric.kind = "rail-optimized";
  cluster.fabric.nics_per_node = 8;
  cluster.fabric.nic_gbps = 400;
  cluster.fabric.latency_us = 2;
  cluster.fabric.oversubscription = oversubscription;
  return build_topology(cluster);
}

/// 2 nodes of 8 GPUs with 360 GB/s NVSwitch ports and `nics` NICs of 50 GB/s.
std::unique_ptr<Topology> two_nodes(std::int64_t nics) {
  Cluster cluster;
  cluster.gpus_per_node = 8;
  cluster.nodes = 2;
  cluster.node = {"nvswitch", 450, 1, 0.8};
  cluster.fabric.nics_per_node = nics;
  cluster.fabric.nic_gbps = 400;
  return build_topology(cluster);
}

/// Bus bandwidth in GB/s of all-gathers over both nodes, in groups of `local` neighbours of each node.
struct BusBandwidth {
  double alone = 0;
  double together = 0;  ///< while all groups gather
};

BusBandwidth all_gather_bandwidth(const Topology& topology, std::uint32_t local) {
  CollectivePricer pricer(topology, all_by("ring"));
  std::vector<double> load(topology.links().size());
  TransferPrice one;
  for (std::uint32_t first = 0; first < 8; first += local) {
    std::vector<std::uint32_t> members = first_ranks(2 * local);
    for (std::uint32_t i = 0; i < 2 * local; ++i) members[i] = first + i % local + i / local * 8;
    pricer.price({Collective::all_gather, kBytes, Dimension::data}, members, one);
    for (const LinkUse& use : one.uses) {
      load[index(use.link)] += static_cast<double>(one.legs[0].rate) * static_cast<double>(use.weight) /
                               static_cast<double>(kWeightOne);
    }
  }
  double overload = 1;
  for (std::size_t i = 0; i < load.size(); ++i) {
    overload = std::max(overload, load[i] / static_cast<double>(topology.links()[i].bytes_per_s));
  }
  const double moved = static_cast<double>(kBytes) * (2.0 * local - 1) / (2.0 * local);
  const double alone = moved / (to_seconds(one.legs[0].alone_ps) * 1e9);
  return {alone, alone / overload};
}

/// With links of 360 GB/s, of which reductions in the switch sustain 300.
std::unique_ptr<Topology> reducing_node(std::int64_t gpus, std::int64_t nodes = 1) {
  Cluster cluster;
  cluster.gpus_per_node = gpus;
  cluster.nodes = nodes;
  cluster.node = {"nvswitch", 450, 1, 0.8};
  cluster.node.nvls_efficiency = 2.0 / 3;
  cluster.fabric.nic_gbps = 400;
  return build_topology(cluster);
}

Picoseconds data_time(const TransferPrice& price) {
  Picoseconds sum = 0;
  for (const Leg& leg : price.legs) sum += leg.alone_ps;
  return sum;
}

}  // namespace

TEST_CASE("rings over nodes take all NICs of each node, and no link between rails") {
  // A node has 8 NICs: 2 * 63/64 * 1e9 bytes at 400 GB/s = 4.921875 ms. Each GPU sends as much in all: 480
  // GB/s are no limit, at 360 GB/s it takes 5.46875 ms.
  for (const double oversubscription : {1.0, 4.0}) {
    const auto time = [&](double port_gb_per_s) {
      return data_time(
          price(*rails(oversubscription, port_gb_per_s), "ring", Collective::all_reduce, 64, kBytes));
    };
    CHECK(time(600) == 4'921'875'000);
    CHECK(time(450) == 5'468'750'000);
  }
}

TEST_CASE("trees over nodes take all NICs of each node") {
  // An inner node sends 2 M in all: 2e9 bytes at 400 GB/s.
  CHECK(data_time(price(*rails(4, 600), "tree", Collective::all_reduce, 64, kBytes)) == 5'000'000'000);
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

TEST_CASE("a group drives the NICs nearest to its GPUs, and all groups together all of them") {
  const auto close = [](double value) { return doctest::Approx(value).epsilon(1e-6); };
  // Every GPU has a NIC: k of 8 GPUs take k NICs of 50 GB/s, whatever other GPUs do; but a GPU sends no more
  // than its port of 360 GB/s in the node.
  const auto eight = two_nodes(8);
  for (const std::uint32_t local : {1U, 2U, 4U, 8U}) {
    const BusBandwidth found = all_gather_bandwidth(*eight, local);
    CHECK(found.alone == close(std::min(50.0 * local, 360.0)));
    CHECK(found.together == close(std::min(50.0 * local, 360.0)));
  }
  // A NIC for two GPUs: neighbours share one. A GPU alone has all of it, its neighbour too: 25 each.
  const auto four = two_nodes(4);
  for (const std::uint32_t local : {1U, 2U, 4U, 8U}) {
    const BusBandwidth found = all_gather_bandwidth(*four, local);
    CHECK(found.alone == close(local == 1 ? 50.0 : 25.0 * local));
    CHECK(found.together == close(25.0 * local));
  }
}

TEST_CASE("nvls: (n+1)/n M through each port at the pace of the switch, two hops") {
  // 9/8 * 1e9 bytes at 300 GB/s = 3.75 ms: a bus bandwidth of 466.7 GB/s. The ring takes 4.861 ms.
  const auto node = reducing_node(8);
  const TransferPrice sum = price(*node, "nvls", Collective::all_reduce, 8, kBytes);
  REQUIRE(sum.legs.size() == 1);
  CHECK(sum.legs[0].alone_ps == 3'750'000'000);
  CHECK(sum.legs[0].latency_ps == 2'000'000);
  CHECK(sum.legs[0].rate == 300'000'000'000);
  CHECK(sum.uses.size() == 16);
  CHECK(std::ranges::all_of(sum.uses, [](const LinkUse& use) { return use.weight == kWeightOne; }));
  // Among 4 of 8: 5/4 * 1e9 bytes at 300 GB/s = 4.1667 ms.
  CHECK(data_time(price(*node, "nvls", Collective::all_reduce, 4, kBytes)) == 4'166'666'667);
}

TEST_CASE("nvls: its ways to the switch have a latency of their own") {
  Cluster cluster;
  cluster.gpus_per_node = 8;
  cluster.node = {"nvswitch", 450, 1, 0.8};
  cluster.node.nvls_efficiency = 2.0 / 3;
  cluster.node.nvls_latency_us = 25;
  const auto node = build_topology(cluster);
  // Two ways of 25 us; the ring's 14 hops of 1 us are the faster choice for little data.
  CHECK(price(*node, "nvls", Collective::all_reduce, 8, 1000).legs[0].latency_ps == 50'000'000);
  CHECK(price(*node, "auto", Collective::all_reduce, 8, 1000).algorithm == "ring");
  CHECK(price(*node, "auto", Collective::all_reduce, 8, kBytes).algorithm == "nvls");
}

TEST_CASE("a message over the fabric moves no faster than its connections") {
  Cluster cluster;
  cluster.gpus_per_node = 4;
  cluster.nodes = 2;
  cluster.node = {"nvswitch", 450, 1, 0.8};
  cluster.fabric.nic_gbps = 100;
  cluster.fabric.flow_gbps = 16;
  const auto topology = build_topology(cluster);
  const auto time = [&](Collective collective, std::vector<std::uint32_t> members) {
    TransferPrice out;
    CollectivePricer(*topology, all_by("auto")).price({collective, kBytes, Dimension::data}, members, out);
    return std::pair{data_time(out), out.legs[0].rate};
  };
  // 1e9 bytes at 2 GB/s over the fabric, at 360 GB/s inside a node.
  CHECK(time(Collective::send_recv, {0, 4}) ==
        std::pair{Picoseconds{500'000'000'000}, std::int64_t{2'000'000'000}});
  CHECK(time(Collective::send_recv, {0, 1}).first == 2'777'777'778);
  // A ring of one GPU a node: half of the data at 2 GB/s. Of four a node, one channel starts at each: four
  // connections of 2 GB/s, 7/8 of 1e9 bytes at 8 GB/s.
  CHECK(time(Collective::all_gather, {0, 4}).first == 250'000'000'000);
  CHECK(time(Collective::all_gather, first_ranks(8)).first == 109'375'000'000);
}

TEST_CASE("messages of a node without peer access share its host's memory") {
  Cluster cluster;
  cluster.gpus_per_node = 4;
  cluster.node = {"pcie-host", 12.5, 1, 0.8};
  cluster.node.host_gb_per_s = 20;
  const auto node = build_topology(cluster);
  // A message alone: 1e9 bytes at 10 GB/s. In a ring of four all send at once, 5 GB/s each: 3/4 of 1e9 bytes.
  CHECK(data_time(price(*node, "auto", Collective::send_recv, 2, kBytes)) == 100'000'000'000);
  CHECK(data_time(price(*node, "auto", Collective::all_gather, 4, kBytes)) == 150'000'000'000);
}

TEST_CASE("auto reduces in the switch where there is one that can, and it pays") {
  const auto taken = [](const Topology& topology, Collective collective, std::uint32_t members) {
    return price(topology, "auto", collective, members, kBytes).algorithm;
  };
  CHECK(taken(*reducing_node(8), Collective::all_reduce, 8) == "nvls");
  CHECK(taken(*reducing_node(8), Collective::all_reduce, 2) == "ring");  // 3/2 M at 300 GB/s, or M at 360
  CHECK(taken(*reducing_node(8), Collective::all_gather, 8) == "ring");
  CHECK(taken(*reducing_node(8, 2), Collective::all_reduce, 8) == "nvls");  // within the first of two nodes
  CHECK(taken(*reducing_node(8, 2), Collective::all_reduce, 16) == "nvls-tree");
  CHECK(taken(*reducing_node(8, 2), Collective::all_gather, 16) == "ring");
  CHECK(taken(*rails(1), Collective::all_reduce, 8) == "ring");
}

TEST_CASE("nvls and its key are refused where no switch can reduce") {
  const auto refusal = [](const Topology& topology, std::uint32_t members) -> std::string {
    try {
      (void)price(topology, "nvls", Collective::all_reduce, members, kBytes);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(refusal(*rails(1), 8).find("it needs a node whose switch reduces") != std::string::npos);
  CHECK(refusal(*reducing_node(8, 2), 16).find("it stays inside one node") != std::string::npos);
  Cluster cluster;
  cluster.gpus_per_node = 8;
  cluster.node = {"hybrid-cube-mesh", 25, 1, 1};
  cluster.node.nvls_efficiency = 0.6;
  CHECK_THROWS_WITH((void)build_topology(cluster),
                    "/cluster/node/nvls_efficiency: found 0.6 for the wiring \"hybrid-cube-mesh\"; only "
                    "nvswitch reduces in "
                    "the switch");
}

TEST_CASE("a base latency and a ramp: once per collective, of the node inside it and of the fabric across") {
  Cluster cluster;
  cluster.gpus_per_node = 8;
  cluster.nodes = 2;
  cluster.node = {"nvswitch", 450, 1, 0.8, 10, 100, 0.5};
  cluster.fabric.nics_per_node = 8;
  cluster.fabric.nic_gbps = 400;
  cluster.fabric.base_latency_us = 30;
  cluster.fabric.ramp_us = 200;
  cluster.fabric.ramp_efficiency = 0.8;
  const auto topology = build_topology(cluster);
  const auto time = [&](Collective collective, std::vector<std::uint32_t> members, Bytes bytes) {
    TransferPrice out;
    CollectivePricer(*topology, all_by("auto")).price({collective, bytes, Dimension::data}, members, out);
    return out.alone_ps();
  };
  const auto us = [](std::int64_t count) { return count * kPicosecondsPerMicrosecond; };
  // All-gather in a node: 7 hops of 1 us, 7/8 of 7.2 MB at 360 GB/s = 17.5 us. At half the pace another
  // 17.5 us; of 72 MB, 175 us, no more than 100 us.
  CHECK(time(Collective::all_gather, first_ranks(8), 0) == us(10 + 7));
  CHECK(time(Collective::all_gather, first_ranks(8), 7'200'000) == us(10 + 7 + 35));
  CHECK(time(Collective::all_gather, first_ranks(8), 72'000'000) == us(10 + 7 + 175 + 100));
  // A message inside a node: 36 MB at 360 GB/s = 100 us. Across, by one NIC: 5 MB at 50 GB/s = 100 us, a
  // quarter of that on top at four fifths of the pace.
  CHECK(time(Collective::send_recv, {0, 1}, 36'000'000) == us(10 + 1 + 100 + 100));
  CHECK(time(Collective::send_recv, {0, 8}, 5'000'000) == us(30 + 100 + 25));
  CHECK(time(Collective::send_recv, {0, 8}, 500'000'000) == us(30 + 10'000 + 200));
  // Several legs: once, on the first.
  TransferPrice levels;
  CollectivePricer(*topology, all_by("hierarchical"))
      .price({Collective::all_gather, 0, Dimension::data}, first_ranks(16), levels);
  REQUIRE(levels.legs.size() == 2);
  CHECK(levels.legs[0].latency_ps == us(30));
  CHECK(levels.legs[1].latency_ps == us(7));
}
