// Nodes as nvidia-smi, InfraGraph and nccl-tests show them.
#include <doctest/doctest.h>

#include <string>

#include "importers/common/gpu_names.hpp"
#include "tests/importers/imported_text.hpp"

namespace orrery::importers {
namespace {

std::string matrix(const std::string& link) {
  return "\t\x1b[4mGPU0\tGPU1\tGPU2\tmlx5_0\tmlx5_1\tCPU Affinity\tNUMA Affinity\x1b[0m\nGPU0\t X \t" + link +
         "\t" + link + "\tPXB\tSYS\t0-31\t0\nGPU1\t" + link + "\t X \t" + link +
         "\tSYS\tSYS\t0-31\t0\nGPU2\t" + link + "\t" + link +
         "\t X \tSYS\tSYS\t32-63\t1\nmlx5_0\tPXB\tSYS\tSYS\t X \tSYS\nmlx5_1\tSYS\tSYS\tSYS\tSYS\t X \n\n" +
         "Legend:\n\n  X    = Self\n";
}

/// Columns of the older form: errors have no #wrong, and all-gathers no redop.
std::string gather_log(double top_gb_per_s) {
  std::string text = "# nThread 1 nGpus 4\n# Using devices\n";
  for (int rank = 0; rank < 4; ++rank)
    text += "#   Rank  " + std::to_string(rank) + " Pid 7 on host1 device  0 [0x00] NVIDIA A100-SXM4-80GB\n";
  text += "# size count type time algbw busbw error time algbw busbw error\n";
  text += "  1024 64 float 30.0 0.03 0.03 N/A 31.0 0.03 0.03 N/A\nhost1:1:1 [0] NCCL INFO something\n";
  text += "  4294967296 1 float 17000 " + std::to_string(top_gb_per_s / 0.75) + " " +
          std::to_string(top_gb_per_s) + " N/A 17000 300 200 N/A\n";
  return text;
}

}  // namespace

TEST_CASE("names of GPUs, however programs print them") {
  CHECK(gpu_of_words("NVIDIA H100 80GB HBM3").catalog == "h100");
  CHECK(gpu_of_words("A100-SXM4-40GB").catalog == "a100-40gb");
  CHECK(gpu_of_words("NVIDIA A10").catalog == "a10");
  CHECK(gpu_of_words("NVIDIA GB200").catalog == "gb200");
  CHECK(gpu_of_words("NVIDIA L40S").catalog == "l40s");
  CHECK(gpu_of_words("NVIDIA L4").catalog == "l4");
  CHECK(gpu_of_words("Tesla T4").catalog == "t4");
  CHECK(gpu_of_words("NVIDIA H200").catalog == "h200");
  CHECK(gpu_of_words("NVIDIA H20").catalog == "h20");
  CHECK(gpu_of_words("NVIDIA H100 PCIe").catalog.empty());
  CHECK(gpu_of_words("Generic NPU").words.empty());
}

TEST_CASE("bundles of as many links to all are links to switches, smaller ones a mesh") {
  const auto node_of = [](const std::string& link) {
    return experiment_of(import_texts({matrix(link)}, {"cluster.gpu=h100", "cluster.fabric.nic_gbps=400"}))
        .at("cluster");
  };
  CHECK(node_of("NV18").at("node").at("kind") == "nvswitch");
  CHECK(node_of("NV18").at("node").at("link_gb_per_s") == 450);  // 18 x 25
  CHECK(node_of("NV4").at("node").at("kind") == "full-mesh");
  CHECK(node_of("NV4").at("node").at("link_gb_per_s") == 100);  // 4 x 25
  CHECK(node_of("NV4").at("gpus_per_node") == 3);
  CHECK(node_of("NV4").at("fabric").at("nics_per_node") == 1);  // mlx5_1 is far from all GPUs
}

TEST_CASE("a curve of all-gathers gives the efficiency of links and the base of messages") {
  const Imported imported = import_texts({gather_log(240)});
  REQUIRE_MESSAGE(!imported.stopped(), problems_of(imported));
  const auto node = experiment_of(imported).at("cluster").at("node");
  CHECK(node.at("efficiency").get<double>() == doctest::Approx(0.8));  // 240 / 300
  // 30 us less 3 hops of 1.3 us, the latency of a hop in nvlink-a100.
  CHECK(node.at("base_latency_us").get<double>() == doctest::Approx(26.1));
  // More than the links carry is no share of them.
  const auto more = experiment_of(import_texts({gather_log(310)})).at("cluster").at("node");
  CHECK_FALSE(more.contains("efficiency"));
}

TEST_CASE("InfraGraph: accelerators, links to switches of known rate, and the fabric of instances") {
  const std::string yaml = R"(infrastructure:
  devices:
    - name: server
      components:
        - {name: xpu, description: NVIDIA H100, type: xpu, count: 2}
        - {name: nvsw, description: NVLink switch, type: custom, count: 2}
        - {name: nic, description: NIC, type: nic, count: 2}
      links:
        - {name: nvlink, bandwidth: {giga_bytes_per_second: 225}}
        - {name: pcie, bandwidth: {giga_transfers_per_second: 32}}
      connections:
        - xpu.0.nvlink.nvsw.0
        - xpu.0.nvlink.nvsw.1
        - xpu.1.nvlink.nvsw.0
        - xpu.1.nvlink.nvsw.1
        - xpu.0.pcie.nic.0
        - xpu.1.pcie.nic.1
  instances:
    - {name: host, device: server, count: 2}
    - {name: leaf, device: switch, count: 2}
    - {name: spine, device: switch, count: 1}
  links:
    - {name: eth, bandwidth: {choice: giga_bits_per_second, giga_bits_per_second: 400}}
  connections:
    - host.0.nic.0.eth.leaf.0.port.0
    - host.0.nic.1.eth.leaf.1.port.0
    - host.1.nic.0.eth.leaf.0.port.1
    - host.1.nic.1.eth.leaf.1.port.1
    - leaf.0.port.2.eth.spine.0.port.0
    - leaf.1.port.2.eth.spine.0.port.1
)";
  const Imported imported = import_texts({yaml});
  REQUIRE_MESSAGE(!imported.stopped(), problems_of(imported));
  const auto cluster = experiment_of(imported).at("cluster");
  CHECK(cluster.at("gpu") == "h100");
  CHECK(cluster.at("node").at("kind") == "nvswitch");
  CHECK(cluster.at("node").at("link_gb_per_s") == 450);  // two links of 225 GB/s
  CHECK(cluster.at("nodes") == 2);
  CHECK(cluster.at("fabric").at("kind") == "rail-optimized");
  CHECK(cluster.at("fabric").at("nic_gbps") == 400);
  CHECK(cluster.at("fabric").at("oversubscription") == 2);  // 2 x 400 below a leaf, 400 above
}

}  // namespace orrery::importers
