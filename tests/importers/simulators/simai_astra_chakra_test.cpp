// Files of SimAI, ASTRA-sim and Chakra.
#include <doctest/doctest.h>

#include <string>

#include "orrery/error.hpp"
#include "tests/importers/imported_text.hpp"

namespace orrery::importers {
namespace {

std::string workload(const std::string& settings) {
  return "HYBRID_TRANSFORMER_FWD_IN_BCKWD " + settings +
         "\n2\nattention -1 10 ALLGATHER 64 5 NONE 0 5 NONE 0 100\nmlp -1 10 NONE 0 5 NONE 0 5 NONE 0 100\n";
}

/// A field of a protocol buffer: a varint below 128, or bytes shorter than that.
std::string field(int number, int value) {
  return {static_cast<char>(number << 3), static_cast<char>(value)};
}
std::string field(int number, const std::string& bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}
std::string message(const std::string& bytes) {
  return std::string(1, static_cast<char>(bytes.size())) + bytes;
}

}  // namespace

TEST_CASE("the first line of SimAI's workload is the plan; the model must come from elsewhere") {
  const std::string text = workload(
      "model_parallel_NPU_group: 2 ep: 1 pp: 4 vpp: 2 ga: 8 all_gpus: 16 checkpoints: 0 "
      "pp_comm 4096");
  CHECK(items_of(import_texts({text}), Fate::missing).find("--set model=NAME") != std::string::npos);
  const auto experiment = experiment_of(import_texts({text}, {"model=llama3.1-8b"}));
  CHECK(experiment.at("plan").at("tensor_parallel") == 2);
  CHECK(experiment.at("plan").at("virtual_stages") == 2);
  CHECK(experiment.at("plan").at("global_batch_size") == 16);  // 8 micro-batches x 2 replicas of 8 GPUs
  CHECK(experiment.at("cluster").at("nodes") == 2);
}

TEST_CASE("SimAI's topology: GPUs before NVSwitches before switches, a leaf for each GPU of a server") {
  // Four GPUs on two servers, NVSwitches 4 and 5, leaves 6 and 7 below the spine 8.
  const std::string text =
      "9 2 2 3 10 H20\n4 5 6 7 8\n0 4 3600Gbps 0.0005ms 0\n0 6 400Gbps 0.0005ms 0\n1 4 3600Gbps 0.0005ms 0\n"
      "1 7 400Gbps 0.0005ms 0\n2 5 3600Gbps 0.0005ms 0\n2 6 400Gbps 0.0005ms 0\n3 5 3600Gbps 0.0005ms 0\n"
      "3 7 400Gbps 0.0005ms 0\n6 8 400Gbps 0.0005ms 0\n7 8 400Gbps 0.0005ms 0\n";
  const Imported imported = import_texts({text});
  REQUIRE_MESSAGE(!imported.stopped(), problems_of(imported));
  const auto cluster = experiment_of(imported).at("cluster");
  CHECK(cluster.at("gpu") == "h20");
  CHECK(cluster.at("nodes") == 2);
  CHECK(cluster.at("node").at("link_gb_per_s") == 450);  // 3600 Gb/s
  CHECK(cluster.at("node").at("latency_us") == 1);       // 0.5 us to the switch, 0.5 us on
  CHECK(cluster.at("fabric").at("kind") == "rail-optimized");
  CHECK(cluster.at("fabric").at("shape") == nlohmann::json{2});
  CHECK(cluster.at("fabric").at("oversubscription") == 2);  // 4 x 400 below, 2 x 400 above
}

TEST_CASE("dimensions of ASTRA-sim are a node and a fabric, equal rings a torus, more than two are refused") {
  const std::vector<std::string> gpu{"cluster.gpu=h100"};
  const auto two = experiment_of(import_texts(
      {"topology: [ Switch, Ring ]\nnpus_count: [ 8, 4 ]\nbandwidth: [ 400, 50 ]\nlatency: [ 1000, 500 ]\n"},
      gpu));
  CHECK(two.at("cluster").at("gpus_per_node") == 8);
  CHECK(two.at("cluster").at("nodes") == 4);
  CHECK(two.at("cluster").at("node").at("kind") == "nvswitch");
  CHECK(two.at("cluster").at("node").at("link_gb_per_s").get<double>() ==
        doctest::Approx(429.497));  // 400 x 2^30
  CHECK(two.at("cluster").at("node").at("latency_us") == 2);
  CHECK(two.at("cluster").at("fabric").at("kind") == "ring");
  CHECK(two.at("cluster").at("fabric").at("latency_us") == 0.5);
  const auto torus = experiment_of(import_texts(
      {"topology: [ Ring, Ring ]\nnpus_count: [ 4, 8 ]\nbandwidth: [ 50, 50 ]\nlatency: [ 500, 500 ]\n"},
      gpu));
  CHECK(torus.at("cluster").at("nodes") == 32);
  CHECK(torus.at("cluster").at("fabric").at("shape") == nlohmann::json{4, 8});
  CHECK(import_texts(
            {"topology: [ Ring, FullyConnected, Switch ]\nnpus_count: [ 2, 4, 8 ]\nbandwidth: [ 1, 1, 1 ]\n"},
            gpu)
            .stopped());
}

TEST_CASE("a system of ASTRA-sim chooses algorithms") {
  const Imported imported =
      import_texts({R"({"scheduling-policy": "LIFO", "all-reduce-implementation": ["halvingDoubling"],
           "all-gather-implementation": ["ring", "direct"], "peak-perf": 100})"},
                   {"model=llama3.1-8b"});
  const auto collectives = experiment_of(imported).at("plan").at("collectives");
  CHECK(collectives.at("all-reduce") == "halving-doubling");
  CHECK(collectives.at("all-gather") == "hierarchical");
}

TEST_CASE("an execution trace is summed up and is no experiment, in all its forms") {
  const std::string node = field(1, 7) + field(2, "sum") + field(3, 7) + field(7, 9) +
                           field(10, field(1, "comm_type") + field(13, 0)) +
                           field(10, field(1, "comm_size") + field(13, 64));
  const std::string binary = message(field(1, "0.0.4")) + message(node) + message(field(3, 4) + field(7, 5));
  const Imported trace = import_texts({binary});
  CHECK(trace.files.front().kind == "chakra");
  CHECK(trace.stopped());
  CHECK(items_of(trace, Fate::ignored).find("COMM_COLL_NODE ALL_REDUCE") != std::string::npos);
  CHECK(items_of(import_texts({binary.substr(0, binary.size() - 2)}), Fate::missing)
            .find("ends within a node") != std::string::npos);
  const Imported json = import_texts({R"({"workload_graph": [{"Id": 1, "NodeType": 4, "runtime": 5}]})"});
  CHECK(json.files.front().kind == "chakra-json");
  const Imported other = import_texts({R"([{"type": "COMM_COLL_NODE", "durationMicros": "12",
      "attr": [{"name": "comm_type", "uint64Val": "2"}, {"name": "comm_size", "uint64Val": "1000000"}]}])"});
  CHECK(items_of(other, Fate::ignored).find("COMM_COLL_NODE ALL_GATHER") != std::string::npos);
  CHECK(items_of(other, Fate::ignored).find("1 MB") != std::string::npos);
}

}  // namespace orrery::importers
