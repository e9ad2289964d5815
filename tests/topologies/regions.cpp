// Tests clusters of clusters: sites with fabrics of their own, lines between them, and the bandwidth of lossy
// lines.
#include <cmath>

#include "tests/topologies/helpers.hpp"
#include "topologies/regions/site_lines.hpp"

namespace orrery::test {
namespace {

/// Two nodes in the east, one in the west, joined over an exchange point; 100 us and 200 us to it.
Cluster two_sites(std::int64_t gpus_per_node = 1, const std::string& wiring = "none",
                  const std::string& fabric = "switch") {
  Cluster cluster = cluster_of(3, gpus_per_node, wiring, fabric);
  Regions regions;
  regions.sites = {{"east", 2}, {"west", 1}, {"exchange", 0}};
  regions.links = {{"east", "exchange", 4, 2, 0.1}, {"exchange", "west", 1, 0, 0.2}};
  cluster.regions = regions;
  return cluster;
}

TEST_CASE("messages leave a site through its router") {
  const auto topology = build_topology(two_sites());
  CHECK(way(*topology, 0, 1) == "gpu0 > east/switch > gpu1");
  CHECK(way(*topology, 1, 2) ==
        "gpu1 > east/switch > east/router > exchange/router > west/router > west/switch > gpu2");
  // The switch on either side, 10 us each, and the lines.
  CHECK(latency_of(*topology, 1, 2) == 2 * kHop + 300'000'000);
  // 4 Gb/s up from the east, 1 Gb/s on to the west; back 1 Gb/s and 2 Gb/s.
  CHECK(rates_of(*topology, 1, 2) == std::vector<std::int64_t>{kRate, kMaxLinkBytesPerS, 500'000'000,
                                                               125'000'000, kMaxLinkBytesPerS, kRate});
  CHECK(rates_of(*topology, 2, 0)[2] == 125'000'000);
  CHECK(rates_of(*topology, 2, 0)[3] == 250'000'000);
  CHECK(topology->link(route_of(*topology, 1, 2)[2]).kind == LinkKind::wan);
}

TEST_CASE("every fabric has room for routers") {
  for (const char* fabric :
       {"switch", "ring", "fat-tree", "rail-optimized", "star", "full-mesh", "dragonfly"}) {
    CAPTURE(fabric);
    const auto topology = build_topology(two_sites(4, "nvswitch", fabric));
    for (std::uint32_t from = 0; from < 12; ++from) {
      for (std::uint32_t to = 0; to < 12; ++to) {
        int lines = 0;
        VertexId at{from};
        for (const LinkId id : route_of(*topology, from, to)) {
          const Link& link = topology->link(id);
          if (topology->vertex_name(at).find("nic") == std::string::npos && index(at) >= 12)
            CHECK(link.from == at);
          at = link.to;
          lines += link.kind == LinkKind::wan ? 1 : 0;
        }
        CHECK(lines == ((from < 8) == (to < 8) ? 0 : 2));
      }
    }
  }
}

TEST_CASE("one site is the cluster without regions") {
  Cluster cluster = cluster_of(4, 2, "nvswitch", "fat-tree");
  const auto plain = build_topology(cluster);
  cluster.regions = Regions{{{"all", 4}}, {}};
  const auto topology = build_topology(cluster);
  CHECK(topology->links().size() == plain->links().size());
  for (std::uint32_t to = 0; to < 8; ++to) CHECK(rates_of(*topology, 0, to) == rates_of(*plain, 0, to));
}

TEST_CASE("messages take the lines of least latency") {
  Cluster cluster = cluster_of(3, 1, "none", "switch");
  cluster.regions = Regions{{{"a", 1}, {"b", 1}, {"c", 1}},
                            {{"a", "c", 1, 0, 80}, {"a", "b", 10, 0, 20}, {"b", "c", 10, 0, 30}}};
  const auto topology = build_topology(cluster);
  CHECK(way(*topology, 0, 2) ==
        "gpu0 > a/switch > a/router > b/router > c/router > c/switch > gpu2");  // 50 ms, not 80
}

TEST_CASE("loss lowers what a line carries") {
  SiteLink line{"a", "b", 10};
  CHECK(usable_bytes_per_s(10, line) == 1.25e9);
  line.loss = 0.01;  // without latency there is no wait for what was lost
  CHECK(usable_bytes_per_s(10, line) == 1.25e9 * 0.99);
  // 1448 bytes a round trip of 0.1 s, times sqrt(1.5 / 0.01) = 12.25, for each of 8 connections.
  line.latency_ms = 50;
  line.connections = 8;
  CHECK(usable_bytes_per_s(10, line) == doctest::Approx(8 * 14480 * std::sqrt(150)));
  line.connections = 100'000;
  CHECK(usable_bytes_per_s(10, line) == 1.25e9 * 0.99);
}

TEST_CASE("regions that do not fit together") {
  Cluster cluster = two_sites();
  cluster.regions->links.pop_back();
  CHECK(error_text(cluster) ==
        "/cluster/regions/links: found no way from site \"west\" to site \"east\"; allowed are "
        "links that join all sites");
  cluster = two_sites();
  cluster.regions->links[1].to = "north";
  CHECK(error_pointer(cluster) == "/cluster/regions/links/1/to");
  cluster.regions->links[1].to = "exchange";
  CHECK(error_pointer(cluster) == "/cluster/regions/links/1/to");
  cluster = two_sites();
  cluster.nodes = 4;
  CHECK(error_text(cluster) ==
        "/cluster/regions/sites: found 3 nodes at all sites; allowed are the 4 of the cluster");
  cluster = two_sites(1, "none", "torus");
  cluster.fabric.shape = {2, 2};
  CHECK(error_pointer(cluster) == "/cluster/fabric/shape");
  cluster = two_sites(4, "nvswitch");
  cluster.node.domain_nodes = 2;
  CHECK(error_pointer(cluster) == "/cluster/regions/sites");
}

}  // namespace
}  // namespace orrery::test
