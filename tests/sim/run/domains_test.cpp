// Runs on NVLink domains of several nodes.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "orrery/simulate.hpp"
#include "tests/sim/run/experiments.hpp"
#include "tests/sim/run/same_report.hpp"
#include "topologies/common/topologies.hpp"

using namespace orrery;
using orrery::test::check_same_times;
using orrery::test::read;

namespace {

/// 16 GPUs with NVLink ports of 100 GB/s and a NIC of 200 Gb/s each.
std::vector<std::string> nodes_of(int gpus, int domain_nodes) {
  return {"cluster.gpus_per_node=" + std::to_string(gpus), "cluster.nodes=" + std::to_string(16 / gpus),
          "cluster.fabric.nics_per_node=" + std::to_string(gpus),
          "cluster.node.domain_nodes=" + std::to_string(domain_nodes)};
}

Report run_on(std::vector<std::string> cluster, const std::vector<std::string>& plan) {
  cluster.insert(cluster.end(), plan.begin(), plan.end());
  return simulate(read(
      R"({"stack": "ideal",
          "model": {"kind": "moe-transformer", "layers": 4, "hidden": 512, "ffn_hidden": 1024, "heads": 8, "vocab": 1024,
                    "seq_length": 512, "attention": "flash", "experts": 8, "experts_per_token": 2},
          "cluster": {"gpu": "a100-80gb",
                      "node": {"kind": "nvswitch", "link_gb_per_s": 100, "latency_us": 2, "base_latency_us": 5,
                               "nvls_efficiency": 0.6},
                      "fabric": {"nic_gbps": 200, "latency_us": 3, "base_latency_us": 7}},
          "plan": {"global_batch_size": 32}})",
      cluster));
}

}  // namespace

TEST_CASE("nodes that share a switch are one larger node, in both networks") {
  const std::vector<std::vector<std::string>> plans{
      {"plan.tensor_parallel=8", "plan.sequence_parallel=true"},
      {"plan.tensor_parallel=2", "plan.pipeline_parallel=4", "plan.zero_stage=1"},
      {"plan.zero_stage=3", "software.chooses_sharding=false"},
      {"plan.expert_parallel=8", "plan.dispatcher=deduplicated"},
      {"plan.expert_parallel=8", "plan.dispatcher=hierarchical",
       "plan.collectives={all-reduce: hierarchical}"}};
  for (auto plan : plans) {
    for (const char* network : {"alpha-beta", "flow"}) {
      CAPTURE(plan.front());
      CAPTURE(network);
      plan.emplace_back("simulation.network=" + std::string(network));
      check_same_times(run_on(nodes_of(2, 4), plan), run_on(nodes_of(8, 1), plan));
      check_same_times(run_on(nodes_of(4, 4), plan), run_on(nodes_of(16, 1), plan));
      CHECK(run_on(nodes_of(2, 4), plan).makespan_ps < run_on(nodes_of(2, 1), plan).makespan_ps);
    }
  }
}

TEST_CASE("an all-reduce in a domain of several nodes takes the time of its NVLinks") {
  // Gradients of four matrices of 1024 x 1024 in 4 bytes, S = 16,777,216 bytes; the ring among 8 GPUs sends
  // 2 * 7/8 * S = 29,360,128 bytes through each port at 100 GB/s: 293,601,280 ps. In the nodes of the fabric
  // alone, 4 NICs of 25 GB/s carry as many rings: as long again.
  const auto exposed = [](int domain_nodes) {
    const Report report = simulate(read(
        R"({"stack": "ideal", "model": {"kind": "mlp", "layers": 4, "hidden": 1024, "seq_length": 128},
            "cluster": {"gpu": "a100-80gb", "gpus_per_node": 4, "nodes": 2,
                        "node": {"kind": "nvswitch", "link_gb_per_s": 100},
                        "fabric": {"nics_per_node": 4, "nic_gbps": 100}},
            "plan": {"global_batch_size": 8, "bucket_mb": 0, "collectives": {"all-reduce": "ring"}},
            "software": {"gradient_bytes": 4}})",
        {"cluster.node.domain_nodes=" + std::to_string(domain_nodes)}));
    return report.breakdown.exposed_ps[static_cast<std::size_t>(Dimension::data)] / report.gpus;
  };
  CHECK(exposed(2) == 293'601'280);
  // Two nodes of 4: rings of 4 NICs of 12.5 GB/s, 29,360,128 bytes over 50 GB/s: 587,202,560 ps.
  CHECK(exposed(1) == 587'202'560);
}

TEST_CASE("128 trays of a GB200 NVL72 are seven racks and two trays") {
  const Experiment e = read(R"({"model": "gpt3-1.3b", "cluster": {"base": "gb200-nvl72", "nodes": 128}})");
  const auto topology = build_topology(e.cluster);
  CHECK(topology->gpus() == 512);
  CHECK(topology->gpus_per_domain() == 72);
  const auto kinds = [&](std::uint32_t from, std::uint32_t to) {
    std::vector<LinkId> route;
    topology->route(GpuId{from}, GpuId{to}, route);
    std::string text;
    for (const LinkId link : route)
      text += std::string(kLinkKindNames[static_cast<std::size_t>(topology->link(link).kind)]) + " ";
    return text;
  };
  CHECK(kinds(0, 71) == "nvlink nvlink ");
  CHECK(kinds(504, 511) == "nvlink nvlink ");  // of the last domain
  CHECK(kinds(68, 72) == "nic nic ");          // trays 17 and 18, under one leaf
  CHECK(kinds(69, 72) == "nvlink nvlink nic nic ");
  CHECK(kinds(0, 508) == "nic fabric fabric nic ");  // trays 0 and 127, of one rail
}
