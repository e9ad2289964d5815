#include "sim/metrics/critical_path.hpp"

#include <algorithm>

namespace orrery {
namespace {

/// Names the kind of operation of each task, for tasks in descending order.
class TaskKinds {
 public:
  explicit TaskKinds(const RunView& run) : run_(run), task_group_(run.expanded.task_groups.size()) {}

  const Op& op(std::uint32_t task) {
    const auto& task_groups = run_.expanded.task_groups;
    while (task_group_ == task_groups.size() || task_groups[task_group_].first_task > task) --task_group_;
    return run_.workload.programs[task_groups[task_group_].program].ops[task_groups[task_group_].op];
  }

 private:
  const RunView& run_;
  std::size_t task_group_;  ///< of the latest task
};

/// Walks the path from its end and counts the times that lie within the part.
class PathSum {
 public:
  explicit PathSum(const RunPart& part) : begin_(part.begin), end_(part.end), at_(part.end) {}

  /// Returns true if a task that ended at `time` lies within.
  [[nodiscard]] bool reaches(Picoseconds time) const { return time > begin_; }
  /// The time back to `from` belongs to `kind`.
  void back_to(Picoseconds from, Picoseconds& kind) {
    kind += std::max<Picoseconds>(0, std::min(at_, end_) - std::max(from, begin_));
    at_ = std::min(at_, from);
  }
  void start_at(Picoseconds time) { at_ = time; }

  CriticalPath path;

 private:
  Picoseconds begin_;
  Picoseconds end_;
  Picoseconds at_;
};

}  // namespace

std::uint32_t last_predecessor(const TaskGraph& graph, const Timeline& timeline, std::uint32_t task) {
  const auto finish = [&](std::uint32_t p) { return graph.released(task, p, timeline.finish_ps[p]); };
  std::uint32_t best = kNone;
  for (const std::uint32_t p : graph.predecessors(task)) {
    if (best == kNone || finish(p) > finish(best) || (finish(p) == finish(best) && p < best)) best = p;
  }
  return best;
}

std::vector<CriticalTask> critical_tasks(const TaskGraph& graph, const Timeline& timeline) {
  const auto& finish = timeline.finish_ps;
  std::vector<CriticalTask> path;
  if (finish.empty()) return path;
  auto task = static_cast<std::uint32_t>(std::max_element(finish.begin(), finish.end()) - finish.begin());
  while (task != kNone) {
    path.push_back({task, last_predecessor(graph, timeline, task)});
    task = path.back().before;
  }
  return path;
}

CriticalPaths trace_critical_path(const RunView& run, const RunPart& part) {
  PathSum whole({{}, 0, run.timeline.makespan_ps});
  PathSum within(part);
  bool inside = true;  // or after the part
  const auto back_to = [&](Picoseconds from, auto kind) {
    whole.back_to(from, kind(whole.path));
    if (inside) within.back_to(from, kind(within.path));
  };
  const auto compute = [](CriticalPath& path) -> Picoseconds& { return path.compute_ps; };
  const auto host = [](CriticalPath& path) -> Picoseconds& { return path.host_ps; };
  const auto wait = [](CriticalPath& path) -> Picoseconds& { return path.wait_ps; };
  const auto communication = [](Dimension dimension) {
    return [dimension](CriticalPath& path) -> Picoseconds& {
      return path.communication_ps[static_cast<std::size_t>(dimension)];
    };
  };
  const auto& finish = run.timeline.finish_ps;
  if (finish.empty()) return {};
  TaskKinds kinds(run);
  whole.start_at(run.timeline.makespan_ps);
  within.start_at(run.timeline.makespan_ps);
  for (const auto& [task, before] : critical_tasks(run.expanded.graph, run.timeline)) {
    const Picoseconds start = run.timeline.start_ps[task];
    const Op& op = kinds.op(task);
    inside = within.reaches(finish[task]);
    if (op.stream == Stream::host) {
      back_to(start, host);
    } else if (is_offload(op.stream)) {
      back_to(start, communication(Dimension::offload));
    } else if (op.kind == Op::Kind::compute) {
      back_to(start, compute);
    } else if (op.kind == Op::Kind::pass) {
      back_to(start + run.pass_prices[op.work].duration_ps, communication(Dimension::tensor));
      back_to(start, compute);
    } else {
      const Picoseconds alone = run.expanded.graph.cost_of(task).duration_ps;
      back_to(std::min(finish[task], start + alone), wait);
      back_to(start, communication(run.workload.messages[op.work].dimension));
    }
    const Picoseconds released =
        before == kNone ? 0 : run.expanded.graph.released(task, before, finish[before]);
    back_to(released, wait);
    if (before != kNone) back_to(finish[before], host);
  }
  return {whole.path, within.path};
}

}  // namespace orrery
