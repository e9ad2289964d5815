#include "sim/report/critical_path.hpp"

#include <algorithm>
#include <vector>

namespace orrery {
namespace {

constexpr std::uint32_t kCompute = kDimensionCount;
constexpr std::uint32_t kHost = kDimensionCount + 1;
constexpr std::uint32_t kFirstPass = kDimensionCount + 2;

/// Per task: its Dimension, or kCompute, or kHost, or kFirstPass and on for each of Workload::passes. Tasks
/// of an operation are neighbours, so each takes the kind that its operation's first task was marked with.
std::vector<std::uint32_t> task_kinds(const RunView& run) {
  constexpr std::uint32_t kUnmarked = 0xffffffff;
  const Workload& workload = run.workload;
  std::vector<std::uint32_t> kinds(run.expanded.graph.tasks(), kUnmarked);
  for (std::size_t p = 0; p < workload.programs.size(); ++p) {
    const auto& ops = workload.programs[p].ops;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      std::uint32_t& kind = kinds[run.expanded.first_task[p][i]];
      if (ops[i].stream == Stream::host) {
        kind = kHost;
      } else if (ops[i].kind == Op::Kind::compute) {
        kind = kCompute;
      } else if (ops[i].kind == Op::Kind::pass) {
        kind = kFirstPass + ops[i].work;
      } else {
        kind = static_cast<std::uint32_t>(workload.messages[ops[i].work].dimension);
      }
    }
  }
  std::uint32_t kind = kCompute;
  for (std::uint32_t& each : kinds) {
    if (each == kUnmarked) each = kind;
    kind = each;
  }
  return kinds;
}

constexpr std::uint32_t kNoTask = 0xffffffff;

/// The one that released the task last, the lowest id on ties.
std::uint32_t last_predecessor(const RunView& run, std::uint32_t task) {
  const auto finish = [&](std::uint32_t p) {
    return run.expanded.graph.released(task, p, run.timeline.finish_ps[p]);
  };
  std::uint32_t best = kNoTask;
  for (const std::uint32_t p : run.expanded.graph.predecessors(task)) {
    if (best == kNoTask || finish(p) > finish(best) || (finish(p) == finish(best) && p < best)) best = p;
  }
  return best;
}

}  // namespace

CriticalPath trace_critical_path(const RunView& run) {
  CriticalPath path;
  const auto& finish = run.timeline.finish_ps;
  if (finish.empty()) return path;
  const std::vector<std::uint32_t> kinds = task_kinds(run);
  auto task = static_cast<std::uint32_t>(std::max_element(finish.begin(), finish.end()) - finish.begin());
  while (task != kNoTask) {
    const Picoseconds start = run.timeline.start_ps[task];
    const Picoseconds duration = finish[task] - start;
    const std::uint32_t kind = kinds[task];
    if (kind == kCompute || kind == kHost) {
      (kind == kHost ? path.host_ps : path.compute_ps) += duration;
    } else if (kind >= kFirstPass) {
      const Picoseconds compute = run.pass_prices[kind - kFirstPass].duration_ps;
      path.compute_ps += compute;
      path.communication_ps[static_cast<std::size_t>(Dimension::tensor)] += duration - compute;
    } else {
      const Picoseconds alone = std::min(duration, run.expanded.graph.cost_of(task).duration_ps);
      path.communication_ps[kind] += alone;
      path.wait_ps += duration - alone;
    }
    const std::uint32_t before = last_predecessor(run, task);
    const Picoseconds released =
        before == kNoTask ? 0 : run.expanded.graph.released(task, before, finish[before]);
    path.wait_ps += start - released;
    if (before != kNoTask) path.host_ps += released - finish[before];
    task = before;
  }
  return path;
}

}  // namespace orrery
