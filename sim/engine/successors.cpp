#include "sim/engine/successors.hpp"

#include <numeric>

namespace orrery {

Successors::Successors(const TaskGraph& graph) : begin_(graph.tasks() + 1, 0), ids_(graph.preds.size()) {
  for (const std::uint32_t pred : graph.preds) ++begin_[pred];
  std::inclusive_scan(begin_.begin(), begin_.end(), begin_.begin());
  // Backwards, so that the successors of a task are in the order of their ids.
  for (std::uint32_t task = graph.tasks(); task-- > 0;) {
    for (const std::uint32_t pred : graph.predecessors(task)) ids_[--begin_[pred]] = task;
  }
}

std::vector<std::uint32_t> predecessor_counts(const TaskGraph& graph) {
  std::vector<std::uint32_t> counts(graph.tasks());
  for (std::uint32_t task = 0; task < graph.tasks(); ++task) {
    counts[task] = graph.pred_begin[task + 1] - graph.pred_begin[task];
  }
  return counts;
}

}  // namespace orrery
