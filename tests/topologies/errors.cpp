// Clusters whose parts do not fit together.
#include <limits>

#include "tests/topologies/helpers.hpp"

namespace orrery::test {
namespace {

TEST_CASE("unknown names") {
  CHECK(error_pointer(cluster_of(2, 2, "nvlink", "switch")) == "/cluster/node/kind");
  CHECK(error_pointer(cluster_of(2, 2, "nvswitch", "hypercube")) == "/cluster/fabric/kind");
}

TEST_CASE("shapes that do not fit") {
  const auto with_shape = [](const char* fabric, std::vector<std::int64_t> shape) {
    Cluster cluster = cluster_of(12, 1, "none", fabric);
    cluster.fabric.shape = std::move(shape);
    return error_pointer(cluster);
  };
  const std::string pointer = "/cluster/fabric/shape";
  CHECK(with_shape("grid", {3, 5}) == pointer);
  CHECK(with_shape("torus", {12, 0}) == pointer);
  CHECK(with_shape("torus", {-3, -4}) == pointer);
  CHECK(with_shape("torus", {2, 2, 3}) == "built");
  CHECK(with_shape("fat-tree", {4, 2}) == pointer);
  CHECK(with_shape("fat-tree", {4}) == pointer);
  CHECK(with_shape("fat-tree", {4, 0}) == pointer);
  CHECK(with_shape("fat-tree", {4, 3}) == "built");
  CHECK(with_shape("fat-tree", {4, 2'000'000'000, 2'000'000'000, 2'000'000'000}) == "built");
  CHECK(with_shape("rail-optimized", {4, 3}) == pointer);
  CHECK(with_shape("rail-optimized", {0}) == pointer);
}

TEST_CASE("a cube mesh has at most eight GPUs") {
  CHECK(error_pointer(cluster_of(1, 9, "hybrid-cube-mesh", "switch")) == "/cluster/gpus_per_node");
}

TEST_CASE("bandwidths, latencies and shares") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto pointer = [](auto change) {
    Cluster cluster = cluster_of(2, 2, "nvswitch", "switch");
    change(cluster);
    return error_pointer(cluster);
  };
  CHECK(pointer([](Cluster& c) { c.node.link_gb_per_s = 0; }) == "/cluster/node/link_gb_per_s");
  CHECK(pointer([&](Cluster& c) { c.node.link_gb_per_s = nan; }) == "/cluster/node/link_gb_per_s");
  CHECK(pointer([](Cluster& c) { c.node.link_gb_per_s = 1e12; }) == "/cluster/node/link_gb_per_s");
  CHECK(pointer([](Cluster& c) { c.node.efficiency = 0; }) == "/cluster/node/efficiency");
  CHECK(pointer([](Cluster& c) { c.node.efficiency = 1.1; }) == "/cluster/node/efficiency");
  CHECK(pointer([](Cluster& c) { c.node.latency_us = -1; }) == "/cluster/node/latency_us");
  CHECK(pointer([](Cluster& c) { c.fabric.nic_gbps = -1; }) == "/cluster/fabric/nic_gbps");
  CHECK(pointer([&](Cluster& c) { c.fabric.efficiency = nan; }) == "/cluster/fabric/efficiency");
  CHECK(pointer([&](Cluster& c) { c.fabric.latency_us = nan; }) == "/cluster/fabric/latency_us");
  CHECK(pointer([](Cluster& c) { c.fabric.nics_per_node = 0; }) == "/cluster/fabric/nics_per_node");
  CHECK(pointer([](Cluster& c) { c.fabric.oversubscription = 0.5; }) == "/cluster/fabric/oversubscription");
  CHECK(pointer([&](Cluster& c) { c.fabric.oversubscription = nan; }) == "/cluster/fabric/oversubscription");
  CHECK(pointer([](Cluster& c) { c.gpus_per_node = 0; }) == "/cluster/gpus_per_node");
  CHECK(pointer([](Cluster& c) { c.nodes = -1; }) == "/cluster/nodes");
}

TEST_CASE("numbers of parts without traffic are not looked at") {
  Cluster one_node = cluster_of(1, 8, "nvswitch", "grid");
  one_node.fabric.nics_per_node = 0;
  one_node.fabric.nic_gbps = 0;
  one_node.fabric.shape = {5};
  CHECK(error_pointer(one_node) == "built");
  Cluster one_gpu = cluster_of(4, 1, "nvswitch", "switch");
  one_gpu.node.link_gb_per_s = 0;
  CHECK(error_pointer(one_gpu) == "built");
}

TEST_CASE("fabrics between nodes carry nothing inside a node") {
  CHECK(error_pointer(cluster_of(4, 2, "none", "torus")) == "/cluster/node/kind");
  CHECK(error_pointer(cluster_of(1, 2, "none", "star")) == "/cluster/node/kind");
}

TEST_CASE("too many links") {
  CHECK(error_pointer(cluster_of(1'000'000, 1, "none", "full-mesh")) == "/cluster/nodes");
  CHECK(error_pointer(cluster_of(1, 100'000, "full-mesh", "switch")) == "/cluster/gpus_per_node");
  CHECK(error_pointer(cluster_of(5000, 100, "full-mesh", "switch")) == "/cluster/nodes");
  // 8,000 x 7,999 links of some 250 bytes.
  CHECK(error_text(cluster_of(1, 8000, "full-mesh", "switch")) ==
        "/cluster/gpus_per_node: found a cluster of 63992000 links, which take about 16 GB to simulate; "
        "allowed are at most 16777216");
  CHECK(error_pointer(cluster_of(1LL << 31, 2, "nvswitch", "switch")) == "/cluster/nodes");
  CHECK(error_pointer(cluster_of((1LL << 30) + 1, 1, "none", "switch")) == "/cluster/nodes");
}

TEST_CASE("more GPUs than memory holds are refused with an estimate") {
  // 4e6 GPUs with a link each way to the switch of the node and to the fabric: 16e6 x 250 + 4e6 x 1,700
  // bytes.
  CHECK(error_text(cluster_of(500'000, 8, "nvswitch", "switch", 8)) ==
        "/cluster/nodes: found a cluster of 4000000 GPUs and 16000000 links, which take about 11 GB to "
        "simulate; allowed are at most 6 GB");
}

}  // namespace
}  // namespace orrery::test
