// Estimates, before anything is built, the cost of simulating gossip over many neighbours. Fitted to runs of
// erdos-renyi graphs behind a switch and of complete graphs over a chain of GPUs, on one core of 2024.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "config/experiment/read_parts.hpp"
#include "workloads/sync/sync_method.hpp"

namespace orrery {
namespace {

constexpr double kMostEntries = 33554432;   // slots of all ranks
constexpr double kMostExchanges = 2e6;      // whose routes are laid: some seconds
constexpr double kMostOperations = 1e7;     // of ranks that are not alike: some seconds
constexpr double kMostSeconds = 60;         // of transfers that share links
constexpr double kSecondsPerPair = 2.4e-9;  // of transfers that share a link, for each message
constexpr double kSecondsPerPairAndLink = 0.16e-9;

double as_real(std::int64_t value) { return static_cast<double>(value); }

/// Describes workers and their edges in one round.
struct GossipShape {
  double workers = 1;
  double degree = 0;     ///< the largest
  double exchanges = 0;  ///< of all ranks, one way
  double links = 2;      ///< of a route, on average
  bool alike = true;     ///< workers cannot differ, where nodes cannot either
};

double workers_of(const Experiment& e) {
  const double replicas = as_real(e.plan.data_parallel);
  if (!e.data_parallel_sync.joins_replicas()) return replicas;
  const bool by_site = e.data_parallel_sync.level == SyncLevel::site && e.cluster.regions;
  const std::int64_t homes = by_site ? std::ssize(e.cluster.regions->sites) : e.cluster.nodes;
  return std::min(replicas, as_real(homes));
}

/// Links of a route between two GPUs, on average: a third of the longest in a line of them, a quarter in a
/// ring. In an explicit graph no more than its GPUs are in a line.
double mean_route(const Cluster& cluster) {
  const double nodes = as_real(cluster.nodes);
  if (cluster.graph) {
    const double lines =
        as_real(static_cast<std::int64_t>(cluster.graph->links.size())) / as_real(cluster.gpus());
    return lines < 1.5 ? std::max(2.0, as_real(cluster.gpus()) / 3) : 2 * std::sqrt(as_real(cluster.gpus()));
  }
  const std::string& kind = cluster.fabric.kind;
  if (kind == "ring") return std::max(2.0, nodes / 4);
  if (kind == "grid" || kind == "torus") return std::max(2.0, std::sqrt(nodes));
  return 4;
}

GossipShape written_shape(const DataParallelSync& sync, double workers) {
  GossipShape shape{workers};
  for (const auto& list : sync.neighbours) {
    shape.degree = std::max(shape.degree, as_real(static_cast<std::int64_t>(list.size())));
    shape.exchanges += as_real(static_cast<std::int64_t>(list.size()));
  }
  shape.alike = false;
  return shape;
}

/// Returns the shape of topologies whose degree grows with the workers; the others have few neighbours.
GossipShape named_shape(const DataParallelSync& sync, double workers) {
  const double others = workers - 1;
  if (sync.topology == "complete") return {workers, others, workers * others};
  if (sync.topology == "star") return {workers, others, 2 * others, 2, false};
  if (sync.topology != "erdos-renyi") return {workers};
  const double degree = sync.probability * others;
  return {workers, degree, workers * degree, 2, false};
}

GossipShape shape_of(const Experiment& e) {
  const DataParallelSync& sync = e.data_parallel_sync;
  const double workers = workers_of(e);
  GossipShape shape = sync.neighbours.empty() ? named_shape(sync, workers) : written_shape(sync, workers);
  shape.exchanges *= as_real(e.plan.gpus()) / workers;
  shape.links = mean_route(e.cluster);
  if (e.cluster.graph) shape.alike = false;
  if (e.simulation.folding == Folding::off) shape.alike = false;
  return shape;
}

/// Returns the messages for the model of a rank, one per bucket.
double messages_of(const Experiment& e, double weights) {
  const double bytes = 4 * weights / as_real(e.plan.tensor_parallel * e.plan.pipeline_parallel);
  return e.plan.bucket_mb > 0 ? std::ceil(bytes / 2 / (e.plan.bucket_mb * 1e6)) : 1;
}

double seconds_of_sharing(const GossipShape& shape, double messages) {
  const double pair = kSecondsPerPair + kSecondsPerPairAndLink * shape.links;
  return messages * shape.exchanges * shape.exchanges * pair;
}

}  // namespace

void check_gossip(const Experiment& e, double weights, Findings& findings) {
  const DataParallelSync& sync = e.data_parallel_sync;
  const bool in_step = sync_method(sync.method).meets == Meets::in_step;
  if (!sync.gossips() || !in_step || e.plan.data_parallel < 2) return;
  const GossipShape shape = shape_of(e);
  const auto refuse = [&](double found, std::string_view what, double limit, std::string_view hint) {
    findings.add(
        "/data_parallel_sync/topology",
        fmt::format("found \"{}\" over {:.0f} workers with about {:.0f} neighbours: about {:.2g} {}, "
                    "allowed at most {:.2g}{}",
                    sync.topology, shape.workers, shape.degree, found, what, limit, hint));
  };
  const std::string_view hint =
      sync.topology == "star" ? "; the method parameter-server does what a star does" : "";
  const double entries = 2 * shape.degree * as_real(e.plan.gpus());
  if (shape.exchanges > kMostExchanges)
    return refuse(shape.exchanges, "exchanges in a round", kMostExchanges, hint);
  if (entries > kMostEntries) return refuse(entries, "communicators of all GPUs", kMostEntries, hint);
  if (shape.alike) return;
  const double messages = messages_of(e, weights);
  if (entries * messages > kMostOperations)
    return refuse(entries * messages, "operations to simulate", kMostOperations, hint);
  const double seconds = seconds_of_sharing(shape, messages);
  if (e.simulation.network == Network::flow && seconds > kMostSeconds)
    refuse(seconds, "seconds to simulate", kMostSeconds, "; the network alpha-beta takes less");
}

}  // namespace orrery
