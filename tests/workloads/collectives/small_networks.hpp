// Networks small enough to price by hand.
#pragma once

#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "orrery/topology.hpp"
#include "orrery/workload.hpp"
#include "sim/cost/collective_cost.hpp"

namespace orrery::test {

/// One switch that never blocks: every route is [up link of the sender][down link of the receiver],
/// and takes its latency on the way up.
class Crossbar : public Topology {
 public:
  static constexpr std::int64_t kBandwidth = 25'000'000'000;
  static constexpr Picoseconds kLatency = 1'500'000;

  explicit Crossbar(std::uint32_t gpus, std::uint32_t gpus_per_node = 1) {
    gpus_ = gpus;
    gpus_per_node_ = gpus_per_node;
    vertices_ = gpus + 1;
    const VertexId middle{gpus};
    for (std::uint32_t i = 0; i < gpus; ++i)
      links_.push_back({VertexId{i}, middle, kBandwidth, kLatency, LinkKind::nic});
    for (std::uint32_t i = 0; i < gpus; ++i)
      links_.push_back({middle, VertexId{i}, kBandwidth, 0, LinkKind::nic});
  }
  void route(GpuId from, GpuId to, std::vector<LinkId>& out) const override {
    out.push_back(LinkId{index(from)});
    out.push_back(LinkId{gpus_ + index(to)});
  }
  [[nodiscard]] std::string vertex_name(VertexId vertex) const override {
    return std::to_string(index(vertex));
  }
};

/// Nodes of `g` GPUs: a crossbar inside each node, and a NIC per GPU on a crossbar across them.
/// Links: [4 i + 0..3] = NVLink up, NVLink down, NIC up, NIC down of GPU i.
class TwoLevel : public Topology {
 public:
  static constexpr std::int64_t kNvlink = 200'000'000'000;
  static constexpr std::int64_t kNic = 25'000'000'000;
  static constexpr Picoseconds kNvlinkLatency = 1'000'000;
  static constexpr Picoseconds kNicLatency = 5'000'000;

  TwoLevel(std::uint32_t nodes, std::uint32_t g, std::int64_t nvlink = kNvlink) {
    gpus_ = nodes * g;
    gpus_per_node_ = g;
    vertices_ = gpus_ + nodes + 1;
    const VertexId fabric{gpus_ + nodes};
    for (std::uint32_t i = 0; i < gpus_; ++i) {
      const VertexId gpu{i};
      const VertexId node{gpus_ + i / g};
      links_.push_back({gpu, node, nvlink, kNvlinkLatency, LinkKind::nvlink});
      links_.push_back({node, gpu, nvlink, 0, LinkKind::nvlink});
      links_.push_back({gpu, fabric, kNic, kNicLatency, LinkKind::nic});
      links_.push_back({fabric, gpu, kNic, 0, LinkKind::nic});
    }
  }
  void route(GpuId from, GpuId to, std::vector<LinkId>& out) const override {
    const std::uint32_t kind = node_of(from) == node_of(to) ? 0 : 2;
    out.push_back(LinkId{4 * index(from) + kind});
    out.push_back(LinkId{4 * index(to) + kind + 1});
  }
  /// One ring from each member on.
  [[nodiscard]] std::vector<std::vector<GpuId>> node_rings(const std::vector<GpuId>& members) const override {
    std::vector<std::vector<GpuId>> rings;
    for (std::size_t k = 0; k < members.size(); ++k) {
      auto& ring = rings.emplace_back();
      for (std::size_t i = 0; i < members.size(); ++i) ring.push_back(members[(k + i) % members.size()]);
    }
    return rings;
  }
  [[nodiscard]] std::string vertex_name(VertexId vertex) const override {
    return std::to_string(index(vertex));
  }
};

inline std::vector<std::uint32_t> first_ranks(std::uint32_t count) {
  std::vector<std::uint32_t> ranks(count);
  std::iota(ranks.begin(), ranks.end(), 0U);
  return ranks;
}

inline std::array<std::string, kCollectiveCount> all_by(const std::string& algorithm) {
  std::array<std::string, kCollectiveCount> names;
  names.fill(algorithm);
  return names;
}

/// Price of one collective among the first `members` GPUs.
inline TransferPrice price(const Topology& topology, const std::string& algorithm, Collective collective,
                           std::uint32_t members, Bytes bytes) {
  TransferPrice out;
  CollectivePricer(topology, all_by(algorithm))
      .price({collective, bytes, Dimension::data}, first_ranks(members), out);
  return out;
}

}  // namespace orrery::test
