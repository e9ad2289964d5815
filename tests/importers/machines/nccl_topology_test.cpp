// Topologies of NCCL: dumps and hints, NVSwitches and direct links, NICs and their ports.
#include <doctest/doctest.h>

#include <string>

#include "orrery/error.hpp"
#include "tests/importers/imported_text.hpp"

namespace orrery::importers {
namespace {

std::string gpu(const std::string& bus, const std::string& attributes, const std::string& links) {
  return "<pci busid=\"" + bus +
         "\" class=\"0x030200\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"><gpu " + attributes + ">" +
         links + "</gpu></pci>";
}

std::string net(const std::string& name, int speed, const std::string& guid, int gdr = 1) {
  return "<pci busid=\"" + name + "\" class=\"0x020700\"><nic><net name=\"" + name + "\" speed=\"" +
         std::to_string(speed) + "\" port=\"1\" guid=\"" + guid + "\" gdr=\"" + std::to_string(gdr) +
         "\"/></nic></pci>";
}

std::string machine(const std::string& parts) {
  return "<!-- a dump -->\n<system version=\"1\"><cpu numaid=\"0\" arch=\"x86_64\">" + parts +
         "</cpu></system>";
}

/// Two GPUs of 18 NVLinks to switches, on four of which 5, 5, 4 and 4 of them end.
std::string two_h100s() {
  std::string links;
  for (const char* count : {"5", "5", "4", "4"})
    links += std::string("<nvlink target=\"0000:0") + count + ":00.0\" count=\"" + count +
             "\" tclass=\"0x068000\"/>";
  return gpu("0000:18:00.0", R"(dev="0" sm="90" gdr="1")", links) +
         gpu("0000:2a:00.0", R"(dev="1" sm="90" gdr="1")", links);
}

}  // namespace

TEST_CASE("links to NVSwitches add up: 18 of 25 GB/s make 450 GB/s a GPU and direction") {
  const Imported imported = import_texts({machine(two_h100s() + net("mlx5_0", 400000, "0x1"))});
  REQUIRE_MESSAGE(!imported.stopped(), items_of(imported, Fate::missing));
  const auto cluster = experiment_of(imported).at("cluster");
  CHECK(cluster.at("gpu") == "h100");
  CHECK(cluster.at("gpus_per_node") == 2);
  CHECK(cluster.at("node").at("kind") == "nvswitch");
  CHECK(cluster.at("node").at("link_gb_per_s") == 450);
  CHECK(cluster.at("node").at("calibration") == "nvlink-h100");
  CHECK(cluster.at("fabric").at("nic_gbps") == 400);
  CHECK(cluster.at("fabric").at("calibration") == "infiniband-ndr");
}

TEST_CASE("ports of one card are one NIC, slower NICs and those without RDMA do not count") {
  // Two cards of two ports of 180 Gb/s: 2 NICs of 360, reduced already by whoever wrote 180 for 200.
  const std::string nics = net("mlx5_0", 180000, "0xa") + net("mlx5_1", 180000, "0xa") +
                           net("mlx5_2", 180000, "0xb") + net("mlx5_3", 180000, "0xb") +
                           net("mlx5_9", 100000, "0xc") + net("eth0", 400000, "0x0", 0);
  const Imported imported = import_texts({machine(two_h100s() + nics)});
  const auto fabric = experiment_of(imported).at("cluster").at("fabric");
  CHECK(fabric.at("nics_per_node") == 2);
  CHECK(fabric.at("nic_gbps") == 360);
  CHECK(fabric.at("efficiency") == 1);
  CHECK(items_of(imported, Fate::ignored).find("net eth0 ->  (no RDMA") != std::string::npos);
  CHECK(items_of(imported, Fate::ignored).find("net mlx5_9 ->  (slower") != std::string::npos);
}

TEST_CASE("links between all GPUs make a full mesh, and an uneven mesh is refused or spread") {
  const auto mi300x = [](const std::string& bus, const std::string& links) {
    return "<pci busid=\"" + bus +
           R"(" class="0x120000" vendor="0x1002" device="0x74a1"><gpu dev="0" sm="304" gcn="gfx942">)" +
           links + "</gpu></pci>";
  };
  const auto to = [](const std::string& bus) {
    return "<xgmi target=\"" + bus + "\" count=\"1\" tclass=\"0x120000\"/>";
  };
  const std::string mesh =
      mi300x("a", to("b") + to("c")) + mi300x("b", to("a") + to("c")) + mi300x("c", to("a") + to("b"));
  const auto node = experiment_of(import_texts({machine(mesh)})).at("cluster").at("node");
  CHECK(node.at("kind") == "full-mesh");
  CHECK(node.at("link_gb_per_s") == 64);
  // A line a - b - c: 4 ends of links of 3 GPUs, spread over 2 others each, are 2/3 of 64 GB/s.
  const std::string line = mi300x("a", to("b")) + mi300x("b", to("a") + to("c")) + mi300x("c", to("b"));
  CHECK(import_texts({machine(line)}).stopped());
  const auto near = experiment_of(import_texts({machine(line)}, {}, true)).at("cluster").at("node");
  CHECK(near.at("link_gb_per_s").get<double>() == doctest::Approx(42.667));
}

TEST_CASE("a hint needs the GPU and the rate of its NICs, and takes the wiring from the catalog") {
  const std::string hint = machine(
      R"(<pci busid="ffff:ff:01.0" class="0x060400"><pci busid="1" class="0x030200"/><pci busid="2" class="0x020700"/></pci>
         <pci busid="ffff:ff:02.0" class="0x060400"><pci busid="3" class="0x030200"/><pci busid="4" class="0x020700"/></pci>)");
  const Imported bare = import_texts({hint});
  CHECK(bare.stopped());
  CHECK(items_of(bare, Fate::missing).find("--set cluster.gpu=NAME") != std::string::npos);
  const auto cluster =
      experiment_of(import_texts({hint}, {"cluster.gpu=h100", "cluster.fabric.nic_gbps=400"})).at("cluster");
  CHECK(cluster.at("gpus_per_node") == 2);
  CHECK(cluster.at("fabric").at("nics_per_node") == 2);
  CHECK(cluster.at("node").at("kind") == "nvswitch");
}

TEST_CASE("PCIe has the slowest speed on the way, an emulated one counts for nothing") {
  const auto card = [](const std::string& speed, const std::string& lanes) {
    return "<pci busid=\"b" + speed +
           R"(" class="0x060400" link_speed="16.0 GT/s PCIe" link_width="16"><pci busid=")" + speed +
           R"(" class="0x030000" vendor="0x10de" device="0x2235" link_speed=")" + speed +
           R"( GT/s" link_width=")" + lanes + R"("><gpu dev="0" sm="86"/></pci></pci>)";
  };
  const auto node =
      experiment_of(import_texts({machine(card("32", "16") + card("31", "16"))})).at("cluster").at("node");
  CHECK(node.at("kind") == "pcie");
  CHECK(node.at("link_gb_per_s") == 32);  // 16 GT/s x 16 / 8
  const Imported emulated = import_texts({machine(card("2.5", "1") + card("2.4", "1"))});
  REQUIRE_FALSE(emulated.stopped());  // the catalog's a40-server has 32
  CHECK(items_of(emulated, Fate::ignored).find("virtual machines") != std::string::npos);
}

TEST_CASE("hostile XML is refused with its line") {
  const auto refused = [](const std::string& text) {
    try {
      import_texts({text});
      return std::string();
    } catch (const InputError& error) {
      return error.diagnostics().front().text();
    }
  };
  CHECK(refused("<!DOCTYPE x [<!ENTITY a \"b\">]>\n<system>&a;</system>").find("DOCTYPE") !=
        std::string::npos);
  CHECK(refused("<system>\n<cpu></system>").find(":2:") != std::string::npos);
  std::string deep = "<system>";
  for (int i = 0; i < 100000; ++i) deep += "<pci>";
  CHECK(refused(deep).find("deeper than 100") != std::string::npos);
}

}  // namespace orrery::importers
