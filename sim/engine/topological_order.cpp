#include "sim/engine/topological_order.hpp"

#include <numeric>

#include "sim/engine/deadlock.hpp"
#include "sim/engine/successors.hpp"

namespace orrery {
namespace {

bool ids_in_order(const TaskGraph& graph) {
  for (std::uint32_t task = 0; task < graph.tasks(); ++task) {
    for (const std::uint32_t pred : graph.predecessors(task)) {
      if (pred >= task) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<std::uint32_t> topological_order(const TaskGraph& graph) {
  std::vector<std::uint32_t> order;
  if (ids_in_order(graph)) {
    order.resize(graph.tasks());
    std::iota(order.begin(), order.end(), 0U);
    return order;
  }
  const Successors successors(graph);
  std::vector<std::uint32_t> waiting = predecessor_counts(graph);
  order.reserve(graph.tasks());
  for (std::uint32_t task = 0; task < graph.tasks(); ++task) {
    if (waiting[task] == 0) order.push_back(task);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const std::uint32_t next : successors.of(order[i])) {
      if (--waiting[next] == 0) order.push_back(next);
    }
  }
  throw_if_waiting(graph, waiting);
  return order;
}

}  // namespace orrery
