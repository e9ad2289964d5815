#include "sim/run/task_path.hpp"

#include <span>

#include "sim/metrics/critical_path.hpp"

namespace orrery {
namespace {

struct TransferParts {
  Picoseconds latency = 0;
  Picoseconds data = 0;
};

/// Nothing of tasks without legs.
TransferParts parts_of(const TaskGraph& graph, std::uint32_t task) {
  const Cost& cost = graph.cost_of(task);
  TransferParts parts;
  for (std::uint32_t l = cost.leg_begin; l < cost.leg_end; ++l) {
    parts.latency += graph.legs[l].latency_ps;
    parts.data += graph.legs[l].alone_ps;
  }
  return parts;
}

}  // namespace

TaskPath::TaskPath(const SimulatedStep& step) {
  const TaskGraph& graph = step.expanded.graph;
  for (const auto& [task, before] : critical_tasks(graph, step.timeline)) {
    Place& place = places_.emplace_back();
    place.task = task;
    place.lags = before != kNone && graph.lags(task, before);
    const Picoseconds taken = step.timeline.finish_ps[task] - step.timeline.start_ps[task];
    const TransferParts alone = parts_of(graph, task);
    if (alone.data == 0 || taken == graph.cost_of(task).duration_ps) continue;
    place.stretched = static_cast<double>(taken - alone.latency) / static_cast<double>(alone.data);
    exact_ = false;
  }
}

double TaskPath::length(const TaskGraph& graph) const {
  double sum = 0;
  for (const Place& place : places_) {
    sum += static_cast<double>(graph.cost_of(place.task).duration_ps);
    if (place.lags) sum += static_cast<double>(graph.lag[place.task]);
    if (place.stretched != 1)
      sum += (place.stretched - 1) * static_cast<double>(parts_of(graph, place.task).data);
  }
  return sum;
}

}  // namespace orrery
