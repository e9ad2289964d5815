// Fabrics: trees of switches, rails, and what ibnetdiscover, Slurm and topograph say of them.
#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

#include "importers/machines/fabric_graph.hpp"
#include "importers/machines/host_list.hpp"
#include "orrery/error.hpp"
#include "tests/importers/imported_text.hpp"

namespace orrery::importers::machines {

TEST_CASE("two leaves under one spine are a tree, twice oversubscribed where four NICs share two links up") {
  FabricGraph graph;
  for (int host = 0; host < 8; ++host)
    graph.join_host("h" + std::to_string(host), host < 4 ? "leaf0" : "leaf1", 200);
  for (int link = 0; link < 2; ++link) {
    graph.join_switches("leaf0", "spine", 200);
    graph.join_switches("leaf1", "spine", 200);
  }
  const FabricShape shape = graph.shape();
  CHECK(shape.nodes == 8);
  CHECK(shape.kind == "fat-tree");
  CHECK(shape.shape == std::vector<std::int64_t>{4, 2});
  CHECK(shape.oversubscription == 2);  // 4 x 200 below, 2 x 200 above
}

TEST_CASE("NICs of a host on a leaf each are rails, and hosts with fewer NICs are no nodes") {
  FabricGraph graph;
  for (const char* host : {"a", "b", "c"})
    for (const char* leaf : {"rail0", "rail1"}) graph.join_host(host, leaf, 400);
  graph.join_host("storage", "rail0", 100);
  for (const char* leaf : {"rail0", "rail1"}) graph.join_switches(leaf, "spine", 400);
  const FabricShape shape = graph.shape();
  CHECK(shape.kind == "rail-optimized");
  CHECK(shape.nodes == 3);
  CHECK(shape.other_hosts == 1);
  CHECK(shape.nics_per_node == 2);
  CHECK(shape.nic_gbps == 400);
  CHECK(shape.shape == std::vector<std::int64_t>{3});
}

TEST_CASE("three levels: hosts of a leaf, leaves of a pod, pods") {
  FabricGraph graph;
  for (int leaf = 0; leaf < 6; ++leaf) {
    graph.join_host("h" + std::to_string(leaf), "leaf" + std::to_string(leaf), 0);
    graph.join_switches("leaf" + std::to_string(leaf), "pod" + std::to_string(leaf / 3), 0);
  }
  graph.join_switches("pod0", "core", 0);
  graph.join_switches("pod1", "core", 0);
  CHECK(graph.shape().shape == std::vector<std::int64_t>{1, 3, 2});
}

TEST_CASE("lists of hosts keep their zeros, and huge ones are refused before they are made") {
  CHECK(expanded_hosts("a[08-10],b,c[1,3]x[1-2]") ==
        std::vector<std::string>{"a08", "a09", "a10", "b", "c1x1", "c1x2", "c3x1", "c3x2"});
  CHECK_THROWS_AS((void)expanded_hosts("a[1-999999999]"), std::invalid_argument);
  CHECK_THROWS_AS((void)expanded_hosts("a[1-1000][1-1000]"), std::invalid_argument);
  CHECK_THROWS_AS((void)expanded_hosts("a[2-1]"), std::invalid_argument);
  CHECK_THROWS_AS((void)expanded_hosts("a[x"), std::invalid_argument);
}

TEST_CASE("ibnetdiscover has each link twice, and aggregation nodes are no hosts") {
  const std::string text =
      "switchguid=0x1\nSwitch\t40 \"S-1\"\t# \"leaf\" base port 0\n"
      "[1]\t\"H-a\"[1](a)\t# \"node1 mlx5_0\" lid 1 4xNDR\n[2]\t\"H-b\"[1](b)\t# \"node2 mlx5_0\" lid 2 "
      "4xNDR\n"
      "[3]\t\"S-2\"[1]\t# \"spine\" lid 3 4xNDR\n[41]\t\"H-c\"[1](c)\t# \"Mellanox Technologies Aggregation "
      "Node\" lid 4 4xHDR\n"
      "switchguid=0x2\nSwitch\t40 \"S-2\"\t# \"spine\" base port 0\n[1]\t\"S-1\"[3]\t# \"leaf\" lid 9 4xNDR\n"
      "[2]\t\"S-3\"[1]\t# \"leaf2\" lid 9 2xNDR\nSwitch\t40 \"S-3\"\t# \"leaf2\"\n"
      "[1]\t\"S-2\"[2]\t# \"spine\" lid 1 2xNDR\n[2]\t\"H-d\"[1](d)\t# \"node3 mlx5_0\" lid 5 4xNDR\n"
      "Ca\t1 \"H-a\"\t# \"node1 mlx5_0\"\n[1](a)\t\"S-1\"[1]\t# lid 1 lmc 0 \"leaf\" lid 7 4xNDR\n";
  const Imported imported = import_texts({text}, {"cluster.gpu=h100"});
  REQUIRE_MESSAGE(!imported.stopped(), problems_of(imported));
  const auto cluster = experiment_of(imported).at("cluster");
  CHECK(cluster.at("nodes") == 3);
  const auto fabric = cluster.at("fabric");
  CHECK(fabric.at("nic_gbps") == 400);  // 4 lanes of 100
  CHECK(fabric.at("kind") == "fat-tree");
  CHECK(fabric.at("shape") == nlohmann::json{2, 2});
  CHECK(fabric.at("oversubscription") == 2);  // 3 x 400 below, 400 + 200 above
}

TEST_CASE("Slurm's switches have no rates; other files or --set give them") {
  const std::string conf =
      "# a tree\nSwitchName=root Switches=leaf[1-2]\nswitchname=leaf1 nodes=srv[01-16]\n"
      "SwitchName=leaf2 \\\n  Nodes=srv[17-32]\n";
  CHECK(items_of(import_texts({conf}, {"cluster.gpu=h100"}), Fate::missing).find("nic_gbps") !=
        std::string::npos);
  const Imported imported = import_texts({conf}, {"cluster.gpu=h100", "cluster.fabric.nic_gbps=400"});
  const auto cluster = experiment_of(imported).at("cluster");
  CHECK(cluster.at("nodes") == 32);
  CHECK(cluster.at("fabric").at("shape") == nlohmann::json{16, 2});
  CHECK(cluster.at("gpus_per_node") == 8);
}

TEST_CASE("a job of fewer GPUs runs on a part of the machine") {
  const std::string conf = "SwitchName=leaf Nodes=srv[01-16]\n";
  const Imported imported =
      import_texts({conf}, {"cluster.gpu=h100", "cluster.fabric.nic_gbps=400", "launch.gpus=32"});
  CHECK(experiment_of(imported).at("cluster").at("nodes") == 4);  // 32 GPUs, 8 a node
  CHECK(items_of(imported, Fate::ignored).find("runs on 32 GPUs") != std::string::npos);
}

TEST_CASE(
    "a job of more GPUs than the machine has contradicts it, one of fewer processes a node takes more "
    "nodes") {
  const std::string conf = "SwitchName=leaf Nodes=srv[01-16]\n";
  const std::vector<std::string> machine{"cluster.gpu=h100", "cluster.fabric.nic_gbps=400"};
  const auto with = [&machine](const std::vector<std::string>& more) {
    std::vector<std::string> settings = machine;
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
  };
  const Imported larger = import_texts({conf}, with({"launch.gpus=256"}));
  CHECK(items_of(larger, Fate::contradictory).find("256 GPUs, and the machine has 128") != std::string::npos);
  const auto spread = experiment_of(import_texts({conf}, with({"launch.gpus=16", "launch.gpus_per_node=4"})));
  CHECK(spread.at("cluster").at("nodes") == 4);
  CHECK(spread.at("cluster").at("gpus_per_node") == 4);
}

TEST_CASE("topology.yaml takes the default topology, and blocks are NVLink domains where there are such") {
  const std::string yaml =
      "- topology: first\n  flat: true\n- topology: second\n  cluster_default: true\n  block:\n    blocks:\n"
      "      - block: b1\n        nodes: n[01-18]\n      - block: b2\n        nodes: n[19-36]\n";
  const Imported imported = import_texts({yaml}, {"cluster.gpu=gb200", "cluster.fabric.nic_gbps=400"});
  const auto cluster = experiment_of(imported).at("cluster");
  CHECK(cluster.at("nodes") == 36);
  CHECK(cluster.at("node").at("domain_nodes") == 18);
  const Imported other = import_texts({yaml}, {"cluster.gpu=h100", "cluster.fabric.nic_gbps=400"});
  CHECK_FALSE(experiment_of(other).at("cluster").at("node").contains("domain_nodes"));
}

TEST_CASE("topograph's models have switches by name") {
  const std::string yaml =
      "switches:\n  top:\n    switches: [a, b]\n  a:\n    nodes: [\"n[1-3]\"]\n  b:\n"
      "    nodes:\n    - n4\n    - n5\nnodes:\n  n1: {type: H100}\n";
  const auto cluster =
      experiment_of(import_texts({yaml}, {"cluster.gpu=h100", "cluster.fabric.nic_gbps=400"})).at("cluster");
  CHECK(cluster.at("nodes") == 5);
  CHECK(cluster.at("fabric").at("shape") == nlohmann::json{3, 2});
}

}  // namespace orrery::importers::machines
