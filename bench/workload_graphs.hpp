// The workloads of docs/developers/performance.md as task graphs and the networks that they run on.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "bench/task_graph_sink.hpp"
#include "bench/workloads.hpp"
#include "sim/engine/repeated_graph.hpp"
#include "sim/engine/task_graph_builder.hpp"

namespace orrery::bench {

struct WorkloadGraph {
  TaskGraph graph;
  std::vector<std::int64_t> bytes_per_s;  ///< of the links
};

/// A step of the ring as the body, which runs as many times as the ring has steps.
inline RepeatedGraph ring_graph(const Ring& ring) {
  TaskGraphBuilder build;
  std::vector<CarriedEdge> carried;
  for (std::uint32_t rank = 0; rank < ring.ranks; ++rank) {
    const std::array link{LinkId{rank}};
    build.add_task(build.add_message(static_cast<Bytes>(ring.bytes()), kLinkBytesPerS,
                                     Picoseconds{Ring::kLatencyNs} * 1000, link));
    carried.push_back({TaskId{ring.previous(rank)}, TaskId{rank}});
  }
  return {std::move(build).finish(), carried, ring.steps()};
}

inline WorkloadGraph training_graph(TrainingSteps steps) {
  TaskGraphSink sink(steps.hosts(), true, TrainingSteps::kLatencyNs);
  sink.reserve(steps.tasks(), steps.edges());
  steps.write(sink);
  std::vector<std::int64_t> bytes_per_s = sink.capacities();
  return {std::move(sink).finish(), std::move(bytes_per_s)};
}

inline WorkloadGraph gossip_graph(const Gossip& gossip) {
  TaskGraphSink sink(4 * Gossip::kNodes, false, Gossip::kLatencyNs);
  sink.reserve(gossip.tasks(), gossip.edges());
  gossip.write(sink);
  std::vector<std::int64_t> bytes_per_s = sink.capacities();
  return {std::move(sink).finish(), std::move(bytes_per_s)};
}

enum class FlowSizes { equal, random };
enum class Spines { by_destination, hashed };

inline WorkloadGraph permutation_graph(std::uint32_t rounds, FlowSizes sizes, Spines spines) {
  using W = Permutations;
  TaskGraphBuilder build;
  build.reserve(std::size_t{rounds} * (W::kHosts + 1) + 1, std::size_t{rounds} * 2 * W::kHosts);
  const CostId barrier = build.add_duration(0);
  TaskId before = build.add_task(barrier);
  std::vector<TaskId> flows(W::kHosts);
  std::vector<LinkId> links;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::vector<std::uint32_t> to = W::permutation(round);
    for (std::uint32_t host = 0; host < W::kHosts; ++host) {
      const std::uint32_t spine =
          spines == Spines::hashed ? W::hashed_spine(round, host) : W::spine_of(to[host]);
      links.clear();
      for (const std::uint32_t link : W::route(host, to[host], spine)) links.push_back(LinkId{link});
      const std::uint64_t bytes = W::bytes(sizes == FlowSizes::equal, round, host);
      const CostId cost = build.add_message(static_cast<Bytes>(bytes), kLinkBytesPerS,
                                            Picoseconds{W::kLatencyNs} * 1000, links);
      flows[host] = build.add_task(cost, {before});
    }
    before = build.add_task(barrier, flows);
  }
  return {std::move(build).finish(), std::vector<std::int64_t>(W::kLinks, kLinkBytesPerS)};
}

}  // namespace orrery::bench
