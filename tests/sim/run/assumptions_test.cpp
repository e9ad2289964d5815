// The sentence of a result that names the calibrations it rests on.
#include <doctest/doctest.h>

#include "tests/sim/run/experiments.hpp"

using namespace orrery;
using orrery::test::read;

namespace {

/// The sentence on calibrations; "" where there is none.
std::string sentence(const std::string& cluster, const std::vector<std::string>& overrides = {}) {
  const Experiment e =
      read(R"({"model": "gpt3-125m", "stack": "ideal", "cluster": )" + cluster + "}", overrides);
  for (const std::string& line : run(e).report.assumptions) {
    if (line.find("calibrations") != std::string::npos) return line;
  }
  return "";
}

}  // namespace

TEST_CASE("a result says that shifts over no power of two do not average exactly") {
  const auto says = [](const std::string& nodes, const std::string& sync) {
    const Experiment e =
        read(R"({"model": "gpt3-125m", "cluster": {"base": "v100-tcp-25g", "gpus_per_node": 1}})",
             {"cluster.nodes=" + nodes, "data_parallel_sync=" + sync});
    for (const std::string& line : run(e).report.assumptions) {
      if (line.find("does not average exactly") != std::string::npos) return true;
    }
    return false;
  };
  CHECK(says("6", "{method: gossip}"));
  CHECK_FALSE(says("8", "{method: gossip}"));
  CHECK_FALSE(says("6", "{method: gossip, topology: base-k}"));
  CHECK_FALSE(says("6", "{method: local-sgd}"));
}

TEST_CASE("a result says which links alpha-beta overloads") {
  const auto says = [](const std::string& network) {
    const Experiment e =
        read(R"({"model": "gpt3-125m", "stack": "ideal", "cluster": {"base": "dgx-a100-80gb", "nodes": 2,
        "fabric": {"nics_per_node": 1, "nic_gbps": 10}}, "plan": {"tensor_parallel": 4}})",
             {"simulation.network=" + network});
    for (const std::string& line : run(e).report.assumptions) {
      if (line.starts_with("the busiest nic link would have to carry ")) return true;
    }
    return false;
  };
  CHECK(says("alpha-beta"));
  CHECK_FALSE(says("flow"));
}

TEST_CASE("a result says why its MFU is beyond the GPU's peak") {
  const auto why = [](const std::vector<std::string>& overrides) {
    const Experiment e =
        read(R"({"model": "gpt3-125m", "stack": "ideal", "cluster": "dgx-a100-80gb"})", overrides);
    for (const std::string& line : run(e).report.assumptions) {
      if (line.starts_with("an MFU of ")) return line.substr(line.find("of the GPU allows: ") + 19);
    }
    return std::string("possible");
  };
  CHECK(why({}) == "possible");
  // Software makes no product faster than its GPU is.
  CHECK(why({"software.gemm_speed=100", "software.flash_speed=100", "cluster.gpu.memory_gb_per_s=1e6",
             "cluster.gpu.kernel_launch_us=0", "cluster.gpu.gemm_start_us=0", "cluster.gpu.memory_ramp_us=0",
             "cluster.gpu.gemm_tile_us=0"}) == "possible");
  CHECK(why({"cluster.overrides=[{node: 0, speed: 10}]"}) == "cluster.overrides speed 10");
}

TEST_CASE("a result names the calibrations of the parts that take part") {
  const std::string start = "constants not given are those of the calibrations: ";
  CHECK(sentence(R"({"base": "dgx-a100-80gb", "nodes": 2})") ==
        start + "gpu a100, node nvlink-a100, fabric infiniband-hdr, software stack ideal");
  CHECK(sentence(R"("dgx-a100-80gb")") == start + "gpu a100, node nvlink-a100, software stack ideal");
  CHECK(sentence(R"({"base": "dgx-a100-80gb", "nodes": 2})", {"cluster.gpus_per_node=1"}) ==
        start + "gpu a100, fabric infiniband-hdr, software stack ideal");
  CHECK(sentence(R"({"gpu": "h200"})") == start + "gpu h100, software stack ideal");
}

TEST_CASE("the assumptions say which links are taken as perfect, and nothing of calibrated ones") {
  const auto sentence = [](const std::string& node, const std::string& fabric) -> std::string {
    const Experiment e = read(
        R"({"model": "gpt3-125m", "cluster": {"gpu": "v100", "gpus_per_node": 4, "nodes": 2,
            "node": {"kind": "nvswitch", "link_gb_per_s": 100)" +
            node + R"(}, "fabric": {"nic_gbps": 100)" + fabric + R"(}}, "plan": {"precision": "fp16"}})",
        {});
    for (const std::string& line : run(e).report.assumptions) {
      if (line.starts_with("links of ")) return line;
    }
    return "";
  };
  const std::string end = "; real ones take longer (orrery list calibrations has measured ones)";
  const std::string all =
      "taken to have no base latency (base_latency_us), no latency a hop (latency_us), all of "
      "their bandwidth (efficiency)";
  CHECK(sentence("", "") == "links of a node are " + all + "; links of the fabric are " + all + end);
  CHECK(sentence(R"(, "calibration": "nvlink-a100")", R"(, "latency_us": 5, "efficiency": 0.9)") ==
        "links of the fabric are taken to have no base latency (base_latency_us)" + end);
  CHECK(sentence(R"(, "calibration": "nvlink-a100")", R"(, "calibration": "infiniband-hdr")").empty());
}
