// Clusters and routes for the tests of this folder.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "orrery/error.hpp"
#include "topologies/common/topologies.hpp"

namespace orrery::test {

/// Node links of 25 GB/s and 1 us, NICs of 200 Gb/s (25 GB/s), 10 us per switch or hop.
inline Cluster cluster_of(std::int64_t nodes, std::int64_t gpus_per_node, const std::string& wiring,
                          const std::string& fabric, std::int64_t nics = 1) {
  Cluster cluster;
  cluster.nodes = nodes;
  cluster.gpus_per_node = gpus_per_node;
  cluster.node = {wiring, 25, 1, 1};
  cluster.fabric.kind = fabric;
  cluster.fabric.nics_per_node = nics;
  cluster.fabric.nic_gbps = 200;
  cluster.fabric.latency_us = 10;
  return cluster;
}

inline constexpr std::int64_t kRate = 25'000'000'000;
inline constexpr Picoseconds kNodeLatency = 1'000'000;
inline constexpr Picoseconds kHop = 10'000'000;

inline std::vector<LinkId> route_of(const Topology& topology, std::uint32_t from, std::uint32_t to) {
  std::vector<LinkId> route;
  topology.route(GpuId{from}, GpuId{to}, route);
  return route;
}

/// "gpu0 > node0/nvswitch > gpu1", vertex by vertex.
inline std::string way(const Topology& topology, std::uint32_t from, std::uint32_t to) {
  std::string out;
  for (const LinkId id : route_of(topology, from, to)) {
    const Link& link = topology.link(id);
    if (out.empty()) out = topology.vertex_name(link.from);
    out += " > ";
    out += topology.vertex_name(link.to);
  }
  return out;
}

inline Picoseconds latency_of(const Topology& topology, std::uint32_t from, std::uint32_t to) {
  Picoseconds sum = 0;
  for (const LinkId id : route_of(topology, from, to)) sum += topology.link(id).latency_ps;
  return sum;
}

inline std::vector<std::int64_t> rates_of(const Topology& topology, std::uint32_t from, std::uint32_t to) {
  std::vector<std::int64_t> rates;
  for (const LinkId id : route_of(topology, from, to)) rates.push_back(topology.link(id).bytes_per_s);
  return rates;
}

/// Where the error of building `cluster` points to, or "built".
inline std::string error_pointer(const Cluster& cluster) {
  try {
    (void)build_topology(cluster);
  } catch (const InputError& error) {
    CHECK_FALSE(error.diagnostics().front().message.empty());
    return error.diagnostics().front().pointer;
  }
  return "built";
}

/// "pointer: message".
inline std::string error_text(const Cluster& cluster) {
  try {
    (void)build_topology(cluster);
  } catch (const InputError& error) {
    return error.diagnostics().front().pointer + ": " + error.diagnostics().front().message;
  }
  return "built";
}

}  // namespace orrery::test
