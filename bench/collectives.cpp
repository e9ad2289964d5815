// Measures the pricing of messages on the cluster of a 145B plan: 192 nodes of 8 GPUs and 8 NICs, tensor
// groups of 8, data groups of 24, pipeline pairs. Items are priced messages; each pass over all groups has a
// fresh pricer, as each candidate of a planner has.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/cost/collective_cost.hpp"
#include "topologies/common/topologies.hpp"

namespace {

using namespace orrery;

constexpr std::uint32_t kTensor = 8;
constexpr std::uint32_t kData = 24;
constexpr std::uint32_t kGpus = 1536;

using Groups = std::vector<std::vector<std::uint32_t>>;

std::unique_ptr<Topology> cluster() {
  Cluster cluster;
  cluster.gpus_per_node = kTensor;
  cluster.nodes = kGpus / kTensor;
  cluster.node = {"nvswitch", 300, 1, 0.8};
  cluster.fabric.kind = "switch";
  cluster.fabric.nics_per_node = 8;
  cluster.fabric.nic_gbps = 200;
  cluster.fabric.latency_us = 2;
  return build_topology(cluster);
}

/// `count` ranks from each of `first`, `stride` apart.
std::vector<std::uint32_t> group(std::uint32_t first, std::uint32_t count, std::uint32_t stride) {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t i = 0; i < count; ++i) ranks.push_back(first + i * stride);
  return ranks;
}

Groups tensor_groups() {
  Groups groups;
  for (std::uint32_t first = 0; first < kGpus; first += kTensor) groups.push_back(group(first, kTensor, 1));
  return groups;
}

Groups data_groups() {
  Groups groups;
  const std::uint32_t stage = kTensor * kData;
  for (std::uint32_t first = 0; first < kGpus; ++first) {
    if (first % stage < kTensor) groups.push_back(group(first, kData, kTensor));
  }
  return groups;
}

Groups stage_pairs() {
  Groups groups;
  const std::uint32_t stage = kTensor * kData;
  for (std::uint32_t rank = 0; rank < kGpus; ++rank) {
    groups.push_back({rank, (rank + stage) % kGpus});
    groups.push_back({(rank + stage) % kGpus, rank});
  }
  return groups;
}

void price_all(benchmark::State& state, const Groups& groups, Collective collective) {
  const std::unique_ptr<Topology> topology = cluster();
  const std::array<std::string, kCollectiveCount> automatic = Plan{}.collectives;
  TransferPrice price;
  for (auto _ : state) {
    CollectivePricer pricer(*topology, automatic);
    for (const auto& members : groups)
      pricer.price({collective, 50'000'000, Dimension::tensor}, members, price);
    benchmark::DoNotOptimize(price.legs.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(groups.size()));
}

void tensor_all_reduce(benchmark::State& state) { price_all(state, tensor_groups(), Collective::all_reduce); }
void data_all_reduce(benchmark::State& state) { price_all(state, data_groups(), Collective::all_reduce); }
void pipeline_send_recv(benchmark::State& state) { price_all(state, stage_pairs(), Collective::send_recv); }

/// One ring and one tree over all GPUs, through all NICs.
void whole_cluster_all_reduce(benchmark::State& state) {
  price_all(state, {group(0, kGpus, 1)}, Collective::all_reduce);
}

BENCHMARK(tensor_all_reduce)->Unit(benchmark::kMicrosecond);
BENCHMARK(data_all_reduce)->Unit(benchmark::kMicrosecond);
BENCHMARK(pipeline_send_recv)->Unit(benchmark::kMicrosecond);
BENCHMARK(whole_cluster_all_reduce)->Unit(benchmark::kMicrosecond);

}  // namespace
