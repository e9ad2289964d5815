// Checks the bandwidth of GPUs out of their nodes: their own link to the NICs, the NICs that they reach, and
// the share that reducing switches of nodes leave to the fabric.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/experiment/read_experiment.hpp"
#include "config/schema/menus.hpp"
#include "tests/workloads/collectives/small_networks.hpp"
#include "topologies/common/topologies.hpp"

using namespace orrery;
using namespace orrery::test;

namespace {

constexpr Bytes kGigabyte = 1'000'000'000;
constexpr Picoseconds kMicrosecond = kPicosecondsPerMicrosecond;

/// Two nodes with NICs of 50 GB/s, without latencies and losses.
Cluster two_nodes_with(std::int64_t gpus, std::int64_t nics, double host_link_gb_per_s) {
  Cluster cluster;
  cluster.gpu.host_link_gb_per_s = host_link_gb_per_s;
  cluster.gpus_per_node = gpus;
  cluster.nodes = 2;
  if (gpus > 1) cluster.node = {"nvswitch", 450, 0, 1};
  cluster.fabric.nics_per_node = nics;
  cluster.fabric.nic_gbps = 400;
  return cluster;
}

/// Returns the price of an all-reduce of 1 GB among all GPUs, or those of `members`.
TransferPrice all_reduce_of(const Cluster& cluster, std::vector<std::uint32_t> members = {},
                            const std::string& algorithm = "auto", Bytes bytes = kGigabyte) {
  const auto topology = build_topology(cluster);
  if (members.empty()) members = first_ranks(topology->gpus());
  TransferPrice out;
  CollectivePricer(*topology, all_by(algorithm))
      .price({Collective::all_reduce, bytes, Dimension::data}, members, out);
  return out;
}

Cluster catalog_cluster(const std::string& keys) {
  static const Catalog catalog = Catalog::embedded();
  const std::string text =
      R"({"model": "gpt3-125m", "plan": {"precision": "fp16"}, "cluster": {"nodes": 2, )" + keys + "}}";
  return read_experiment_text(text, "cluster.json", {}, catalog, menus()).experiment.cluster;
}

/// With NVSwitch ports of 360 GB/s, of which reductions sustain 300, and 8 NICs of 50 GB/s a node on rails.
Cluster reducing_nodes(std::int64_t nodes) {
  Cluster cluster;
  cluster.gpus_per_node = 8;
  cluster.nodes = nodes;
  cluster.node = {"nvswitch", 450, 1, 0.8};
  cluster.node.nvls_efficiency = 2.0 / 3;
  cluster.node.nvls_latency_us = 25;
  cluster.fabric.kind = "rail-optimized";
  cluster.fabric.nics_per_node = 8;
  cluster.fabric.nic_gbps = 400;
  cluster.fabric.latency_us = 2;
  return cluster;
}

}  // namespace

TEST_CASE("a GPU sends no more than its own link to the NICs carries, whatever the number of NICs") {
  // Between two GPUs an all-reduce sends M each way: 1e9 bytes at 50 GB/s of one NIC, at 64 GB/s of the link.
  CHECK(all_reduce_of(two_nodes_with(1, 1, 64)).alone_ps() == 20'000 * kMicrosecond);
  for (const std::int64_t nics : {2, 4, 8})
    CHECK(all_reduce_of(two_nodes_with(1, nics, 64)).alone_ps() == 15'625 * kMicrosecond);
  // A link to the NICs beside the one to the host; where none is known NICs are all there is, 200 GB/s.
  Cluster beside = two_nodes_with(1, 4, 64);
  beside.gpu.nic_link_gb_per_s = 128;
  CHECK(all_reduce_of(beside).alone_ps() == 7'812'500'000);
  CHECK(all_reduce_of(two_nodes_with(1, 4, 0)).alone_ps() == 5'000 * kMicrosecond);
}

TEST_CASE("a GPU that shares a NIC with others sends no more than its own link either") {
  // Alone, 1e9 bytes at 16 GB/s; all eight, 2 * 15/16 * 1e9 bytes at 50 GB/s by one NIC with a ring.
  const Cluster cluster = two_nodes_with(8, 1, 16);
  CHECK(all_reduce_of(cluster, {0, 8}).alone_ps() == 62'500 * kMicrosecond);
  CHECK(all_reduce_of(cluster, {}, "ring").alone_ps() == 37'500 * kMicrosecond);
}

TEST_CASE("fewer GPUs of a catalog node take their share of its NICs along, unless NICs are given") {
  const auto nics = [](const std::string& keys) { return catalog_cluster(keys).fabric.nics_per_node; };
  CHECK(nics(R"("base": "dgx-h100")") == 8);
  CHECK(nics(R"("base": "dgx-h100", "gpus_per_node": 1)") == 1);
  CHECK(nics(R"("base": "dgx-h100", "gpus_per_node": 5)") == 5);
  CHECK(nics(R"("base": "dgx-1", "gpus_per_node": 5)") == 3);  // 4 NICs for 8 GPUs: of 2.5 the third is there
  CHECK(nics(R"("base": "p3-16xlarge", "gpus_per_node": 2)") == 1);
  CHECK(nics(R"("base": "dgx-h100", "gpus_per_node": 1, "fabric": {"nics_per_node": 4})") == 4);
  CHECK(nics(R"("base": "dgx-h100", "gpus_per_node": 1, "fabric": {"nic_gbps": 200})") == 1);
  CHECK(nics(R"("base": "dgx-h100", "gpus_per_node": 16)") == 8);
}

TEST_CASE("1, 2 and 4 GPUs of a node reach 1, 2 and 4 NICs: 1 GB takes 4 : 2 : 1") {
  // NICs of 48 GB/s, M through them each way: 20.83, 10.42 and 5.21 ms, and some latency.
  const auto time = [](const std::string& gpus) {
    return to_seconds(
        all_reduce_of(catalog_cluster(R"("base": "dgx-h100", "gpus_per_node": )" + gpus)).alone_ps());
  };
  CHECK(time("1") == doctest::Approx(0.02083).epsilon(0.02));
  CHECK(time("2") == doctest::Approx(0.01042).epsilon(0.03));
  CHECK(time("4") == doctest::Approx(0.00521).epsilon(0.06));
  CHECK(time("8") < time("4"));
}

TEST_CASE("fewer GPUs of a node never give more bandwidth out of it, and more NICs are never slower") {
  for (const std::string base : {"dgx-h100", "dgx-b200", "dgx-a100-80gb", "dgx-1", "p3-16xlarge"}) {
    CAPTURE(base);
    Picoseconds of_more = 0;
    for (const int gpus : {8, 4, 2, 1}) {
      CAPTURE(gpus);
      const std::string keys = R"("base": ")" + base + R"(", "gpus_per_node": )" + std::to_string(gpus);
      const Picoseconds time = all_reduce_of(catalog_cluster(keys)).alone_ps();
      // This converts to bus bandwidth, 2 (n-1)/n of the bytes reduced in that time.
      const auto in_bus = [&](Picoseconds ps, int n) { return (2.0 * n - 1) / (2.0 * n) / to_seconds(ps); };
      if (of_more > 0) CHECK(in_bus(time, gpus) <= in_bus(of_more, 2 * gpus) * (1 + 1e-9));
      of_more = time;
      Picoseconds of_fewer_nics = 0;
      for (const char* nics : {"1", "2", "4", "8", "16"}) {
        CAPTURE(nics);
        const std::string with = keys + R"(, "fabric": {"nics_per_node": )" + nics + "}";
        const Picoseconds now = all_reduce_of(catalog_cluster(with)).alone_ps();
        if (of_fewer_nics > 0) CHECK(now <= of_fewer_nics);
        of_fewer_nics = now;
      }
    }
  }
}

TEST_CASE("nvls-tree: the switch's pace between few nodes, 2 M through the NICs between many") {
  const auto priced = [](std::int64_t nodes) {
    return all_reduce_of(reducing_nodes(nodes), {}, "nvls-tree");
  };
  // Two nodes: 9/8 M at 300 GB/s. NICs have M/8 at 50 GB/s, 2.5 ms; a GPU sends 10/8 M at 360 GB/s, 3.47 ms.
  const TransferPrice two = priced(2);
  REQUIRE(two.legs.size() == 1);
  CHECK(two.legs[0].alone_ps == 3'750'000'000);
  // To the switch and back 25 us each, up and down the tree 2 us each.
  CHECK(two.legs[0].latency_ps == 54 * kMicrosecond);
  CHECK(two.legs[0].rate == 266'666'666'666);  // of 16 of 16 shares, with 18 at 300 GB/s
  // Four nodes: 2 M/8 at 50 GB/s; the root is two edges away. Eight: three edges.
  CHECK(priced(4).legs[0].alone_ps == 5'000'000'000);
  CHECK(priced(4).legs[0].latency_ps == 58 * kMicrosecond);
  CHECK(priced(8).legs[0].alone_ps == 5'000'000'000);
  CHECK(priced(8).legs[0].latency_ps == 62 * kMicrosecond);
  // A few bytes go by the tree, whose hops are shorter.
  CHECK(all_reduce_of(reducing_nodes(2), {}, "auto", 1000).algorithm == "tree");
  CHECK(all_reduce_of(reducing_nodes(2)).algorithm == "nvls-tree");
}

TEST_CASE("two DGX H100 all-reduce 8 GB at 470 GB/s of bus bandwidth, 16 of them at what NICs carry") {
  const auto bus = [](const std::string& nodes, double ranks) {
    const Cluster cluster = catalog_cluster(R"("base": "dgx-h100")");
    Cluster more = cluster;
    more.nodes = std::stoll(nodes);
    const Picoseconds time = all_reduce_of(more, {}, "auto", 8 * kGigabyte).alone_ps();
    return 2 * (ranks - 1) / ranks * 8 / to_seconds(time);
  };
  CHECK(bus("1", 8) == doctest::Approx(468).epsilon(0.02));
  CHECK(bus("2", 16) == doctest::Approx(470).epsilon(0.03));
  CHECK(bus("4", 32) == doctest::Approx(370).epsilon(0.03));
  CHECK(bus("16", 128) == doctest::Approx(380).epsilon(0.03));
}

TEST_CASE("nvls-tree is refused where it cannot be") {
  const auto refusal = [](const Cluster& cluster, std::vector<std::uint32_t> members) -> std::string {
    try {
      (void)all_reduce_of(cluster, std::move(members), "nvls-tree");
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  CHECK(refusal(reducing_nodes(2), first_ranks(8)).find("it is for several nodes") != std::string::npos);
  CHECK(refusal(reducing_nodes(2), {0, 1, 8}).find("equally many members") != std::string::npos);
  CHECK(refusal(reducing_nodes(2), {0, 8}).find("it needs") != std::string::npos);
  CHECK(refusal(two_nodes_with(8, 8, 64), {}).find("whose switches reduce") != std::string::npos);
}

TEST_CASE(
    "NICs that cannot read the memory of GPUs have half of a PCIe switch's link for a group of a node") {
  // Two nodes of 8 V100 with one NIC of 12.5 GB/s below PCIe of 16 GB/s, 201 MB of a tensor-parallel layer: a
  // ring, 2 * 15/16 * 201.3e6 bytes at 8 GB/s = 47.19 ms. Where NICs read GPUs' memory, a tree: M at 12.5
  // GB/s.
  Cluster cluster = two_nodes_with(8, 1, 16);
  cluster.node = {"hybrid-cube-mesh", 25, 0, 1};
  cluster.fabric.nic_gbps = 100;
  constexpr Bytes kActivations = 16 * 2048 * 3072 * 2;
  CHECK(all_reduce_of(cluster, {}, "auto", kActivations).algorithm == "tree");
  CHECK(all_reduce_of(cluster, {}, "auto", kActivations).alone_ps() == 16'106'127'360);
  cluster.node.gpu_direct = false;
  CHECK(all_reduce_of(cluster, {}, "auto", kActivations).algorithm == "ring");
  CHECK(all_reduce_of(cluster, {}, "auto", kActivations).alone_ps() == 47'185'920'000);
  // Messages of single GPUs come from all switches of a node, and the NIC's own has them once. The only GPU
  // of a node shares its switch with the NIC.
  CHECK(all_reduce_of(cluster, {0, 8}).alone_ps() == 80'000 * kMicrosecond);
  Cluster single = two_nodes_with(1, 1, 16);
  single.node.gpu_direct = false;
  CHECK(all_reduce_of(single).alone_ps() == 125'000 * kMicrosecond);
  // A slow NIC is no slower for it.
  cluster.fabric.nic_gbps = 25;
  const TransferPrice slow = all_reduce_of(cluster);
  cluster.node.gpu_direct = true;
  CHECK(slow.alone_ps() == all_reduce_of(cluster).alone_ps());
}
