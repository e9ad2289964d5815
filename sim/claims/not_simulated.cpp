#include "sim/claims/not_simulated.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "sim/step/replica_graph.hpp"
#include "topologies/gossip/analysis.hpp"
#include "workloads/communicators/communicator_layout.hpp"
#include "workloads/sync/sync_method.hpp"

namespace orrery {
namespace {

/// The first step from `begin` up to `end` after which something leaves there.
std::optional<std::int64_t> first_departure(const DataParallelSync& sync, Departure::To to,
                                            std::int64_t begin, std::int64_t end) {
  const auto departures = sync_method(sync.method).departures;
  for (std::int64_t step = begin; step < end; ++step) {
    const auto leaves = departures(sync, step);
    if (std::ranges::any_of(leaves, [to](const Departure& one) { return one.to == to; })) return step;
  }
  return std::nullopt;
}

/// @param first    step after which it comes, from 1
/// @param enough   steps of which it has its share
std::string skipped_sentence(std::string_view with, std::int64_t first, const Experiment& experiment,
                             std::int64_t enough) {
  const std::int64_t steps = experiment.simulation.steps;
  return fmt::format(
      "the first exchange with {} comes after step {} (data_parallel_sync.period {}) and {} simulated: no "
      "figure has its cost, with simulation.steps={} figures have its share",
      with, first, experiment.data_parallel_sync.period,
      steps == 1 ? "1 step is" : fmt::format("{} steps are", steps), enough);
}

/// An exchange that no simulated step has; "" where all are there.
std::string skipped_exchange(const Experiment& experiment) {
  const DataParallelSync& sync = experiment.data_parallel_sync;
  const std::int64_t steps = experiment.simulation.steps;
  const SyncMethodRow& method = sync_method(sync.method);
  if (sync_workers(experiment).workers < 2) return "";
  if (method.meets == Meets::at_centre && steps < sync.period)
    return skipped_sentence("the centre", sync.period, experiment, sync.period);
  if (method.departures == nullptr) return "";
  const std::int64_t cycle = sync_cycle(sync, 1);
  for (const Departure::To to : {Departure::To::all, Departure::To::neighbours}) {
    if (first_departure(sync, to, 0, steps)) continue;
    const auto first = first_departure(sync, to, steps, cycle);
    if (!first) continue;
    return skipped_sentence(to == Departure::To::all ? "all workers" : "neighbours", *first + 1, experiment,
                            cycle);
  }
  return "";
}

/// Neighbours that share the links of a GPU in truth and not under alpha-beta; "" where there are none.
std::string unshared_links(const Experiment& experiment) {
  if (experiment.simulation.network != Network::alpha_beta) return "";
  const GossipGraph graph = replica_graph(experiment);
  if (graph.empty()) return "";
  const GossipDegrees degrees = gossip_degrees(graph);
  const std::uint32_t neighbours = std::max(degrees.max_in, degrees.max_out);
  if (neighbours < 2) return "";
  return fmt::format(
      "messages to the {} neighbours of a worker do not share its links under network alpha-beta, so all "
      "take as long "
      "as one; simulation.network=flow shares them",
      neighbours);
}

}  // namespace

std::vector<std::string> not_simulated(const Experiment& experiment) {
  std::vector<std::string> list;
  for (std::string sentence : {skipped_exchange(experiment), unshared_links(experiment)})
    if (!sentence.empty()) list.push_back(std::move(sentence));
  return list;
}

}  // namespace orrery
