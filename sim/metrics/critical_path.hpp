// Finds the chain of tasks that ends last. One part of build_report.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/report.hpp"
#include "orrery/task_graph.hpp"
#include "sim/metrics/build_report.hpp"

namespace orrery {

/// The predecessor that released a task, the lowest id on ties; kNone where it has none.
[[nodiscard]] std::uint32_t last_predecessor(const TaskGraph& graph, const Timeline& timeline,
                                             std::uint32_t task);

/// A task of the path and the one that released it, kNone at the beginning.
struct CriticalTask {
  std::uint32_t task = 0;
  std::uint32_t before = 0;
};
/// The path of trace_critical_path(), the last task first.
[[nodiscard]] std::vector<CriticalTask> critical_tasks(const TaskGraph& graph, const Timeline& timeline);

/// Walks from the task that finishes last (the lowest id on ties) back through the predecessor that finished
/// last (again the lowest id). A task's time is compute or the time its transfer takes alone; a delay beyond
/// that, and any time between a predecessor's finish and a start, is wait.
struct CriticalPaths {
  CriticalPath whole;
  CriticalPath part;  ///< the share of it between the part's begin and end
};
[[nodiscard]] CriticalPaths trace_critical_path(const RunView& run, const RunPart& part);

}  // namespace orrery
