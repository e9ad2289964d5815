// Routes per second between random GPUs, and the time to build the network of a large cluster.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "topologies/common/topologies.hpp"

namespace {

orrery::Cluster cluster_of(const char* fabric, std::int64_t gpus) {
  orrery::Cluster cluster;
  cluster.gpus_per_node = 8;
  cluster.nodes = gpus / 8;
  cluster.node = {"nvswitch", 450, 1, 1};
  cluster.fabric.kind = fabric;
  cluster.fabric.nics_per_node = 8;
  cluster.fabric.nic_gbps = 400;
  cluster.fabric.latency_us = 1;
  return cluster;
}

void routes(benchmark::State& state, const char* fabric) {
  const auto topology = orrery::build_topology(cluster_of(fabric, state.range(0)));
  std::vector<orrery::LinkId> route;
  std::uint64_t random = 1;
  const auto draw = [&] {
    random = random * 6364136223846793005U + 1442695040888963407U;
    return orrery::GpuId{static_cast<std::uint32_t>((random >> 32) % topology->gpus())};
  };
  for (auto _ : state) {
    route.clear();
    const orrery::GpuId from = draw();
    topology->route(from, draw(), route);
    benchmark::DoNotOptimize(route.data());
  }
  state.SetItemsProcessed(state.iterations());
}

void build(benchmark::State& state, const char* fabric) {
  const orrery::Cluster cluster = cluster_of(fabric, state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(orrery::build_topology(cluster));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

}  // namespace

BENCHMARK_CAPTURE(routes, switch, "switch")->Arg(100'000);
BENCHMARK_CAPTURE(routes, fat_tree, "fat-tree")->Arg(100'000);
BENCHMARK_CAPTURE(routes, rail_optimized, "rail-optimized")->Arg(100'000);
BENCHMARK_CAPTURE(routes, torus, "torus")->Arg(8'192);
BENCHMARK_CAPTURE(build, switch, "switch")->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(build, fat_tree, "fat-tree")->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(build, torus, "torus")->Arg(100'000)->Unit(benchmark::kMillisecond);
