#include "sim/step/replica_graph.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "orrery/error.hpp"
#include "orrery/rank_grid.hpp"
#include "sim/step/step.hpp"
#include "topologies/gossip/gossip.hpp"
#include "topologies/gossip/placement.hpp"
#include "workloads/sync/sync_method.hpp"

namespace orrery {
namespace {

/// Rounds of a topology that is drawn anew in each step, where the experiment does not say how many steps.
constexpr std::int64_t kRandomRounds = 16;

/// Nanoseconds in which a megabyte gets from the first rank of the worker at one place to another's.
Distance distance_on(const Topology& topology, const Experiment& experiment, std::uint32_t replicas) {
  return [&topology, grid = RankGrid(experiment.plan), replicas](std::uint32_t a, std::uint32_t b) {
    constexpr Bytes kMegabyte = 1'000'000;
    std::vector<LinkId> route;
    topology.route(GpuId{grid.rank({{Axis::data, a * std::int64_t{replicas}}})},
                   GpuId{grid.rank({{Axis::data, b * std::int64_t{replicas}}})}, route);
    Picoseconds latency = 0;
    Picoseconds data = 0;
    for (const LinkId link : route) {
      latency += topology.link(link).latency_ps;
      data = std::max(data, transfer_ps(kMegabyte, topology.link(link).bytes_per_s, 1));
    }
    return static_cast<std::uint32_t>(std::min<Picoseconds>((latency + data) / 1000, 0xffffffff));
  };
}

std::vector<std::uint32_t> checked_places(const std::vector<std::int64_t>& places, std::uint32_t workers) {
  std::vector<bool> taken(workers, false);
  std::vector<std::uint32_t> result;
  const auto wrong = [&](const std::string& what) {
    throw InputError("/data_parallel_sync/placement",
                     "found " + what + ", allowed each of 0 to " + std::to_string(workers - 1) + " once");
  };
  if (places.size() != workers) wrong(std::to_string(places.size()) + " places");
  for (const std::int64_t place : places) {
    if (place >= workers) wrong(std::to_string(place));
    if (taken[static_cast<std::size_t>(place)]) wrong(std::to_string(place) + " twice");
    taken[static_cast<std::size_t>(place)] = true;
    result.push_back(static_cast<std::uint32_t>(place));
  }
  return result;
}

struct CachedLayout {
  CommunicatorLayout layout;

  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = sizeof *this;
    for (const CommunicatorLayout::Round& round : layout.rounds()) {
      for (const auto& colour : round.colours) sum += colour.size() * sizeof(GossipRound::Edge);
    }
    return sum;
  }
};

}  // namespace

GossipGraph replica_graph(const Experiment& experiment) {
  if (!experiment.data_parallel_sync.gossips()) return {};
  const SyncWorkers workers = sync_workers(experiment);
  if (workers.workers < 2) return {};
  const std::int64_t rounds = experiment.simulation.steps > 1
                                  ? rounds_in(experiment.data_parallel_sync, experiment.simulation.steps)
                                  : kRandomRounds;
  return build_gossip_graph(experiment.data_parallel_sync,
                            {workers.workers, workers.workers_per_node, static_cast<std::uint32_t>(rounds),
                             experiment.simulation.seed});
}

GossipGraph placed_replica_graph(const Experiment& experiment, const Topology& topology) {
  GossipGraph graph = replica_graph(experiment);
  const DataParallelSync& sync = experiment.data_parallel_sync;
  if (graph.empty()) return graph;
  if (!sync.places.empty()) return placed(graph, checked_places(sync.places, graph.workers()));
  if (sync.placement == Placement::linear) return graph;
  if (graph.workers() > kMostPlaced) {
    throw InputError("/data_parallel_sync/placement",
                     "found \"near\" for " + std::to_string(graph.workers()) + " workers, allowed up to " +
                         std::to_string(kMostPlaced));
  }
  std::uint64_t edges = 0;
  for (const Mixing& round : graph.rounds) edges += round.from.size();
  if (edges * graph.workers() > kMostPlacedEdges) {
    throw InputError("/data_parallel_sync/placement",
                     "found \"near\" for " + std::to_string(graph.workers()) + " workers with " +
                         std::to_string(edges) + " neighbours in all rounds, allowed up to " +
                         std::to_string(kMostPlacedEdges / graph.workers()));
  }
  const std::uint32_t replicas = sync_workers(experiment).replicas_per_worker;
  return placed(graph, place_near(graph, distance_on(topology, experiment, replicas)));
}

CommunicatorLayout communicator_layout_of(const Experiment& experiment, Memo& memo) {
  const DataParallelSync& sync = experiment.data_parallel_sync;
  if (!sync.gossips() || sync_method(sync.method).meets != Meets::in_step)
    return CommunicatorLayout(experiment, {});
  Experiment replicas = experiment;  // without parts that the layout does not depend on
  replicas.name.clear();
  replicas.plan.micro_batch_size = replicas.plan.global_batch_size = 1;
  replicas.training = {};
  replicas.accuracy = {};
  replicas.problem = {};
  const auto kept = memo.get<CachedLayout>(MemoKind::sync_layout, content_of(replicas), [&] {
    return CachedLayout{CommunicatorLayout(
        replicas, placed_replica_graph(replicas, *machine_of(replicas.cluster, memo)->topology))};
  });
  return kept->layout;
}

}  // namespace orrery
