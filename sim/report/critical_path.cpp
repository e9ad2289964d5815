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

/// The path, walked from its end; counts what lies within the part.
class PathSum {
 public:
  explicit PathSum(const RunPart& part) : begin_(part.begin), end_(part.end), at_(part.end) {}

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

CriticalPath trace_critical_path(const RunView& run, const RunPart& part) {
  PathSum sum(part);
  CriticalPath& path = sum.path;
  const auto& finish = run.timeline.finish_ps;
  if (finish.empty()) return path;
  const std::vector<std::uint32_t> kinds = task_kinds(run);
  auto task = static_cast<std::uint32_t>(std::max_element(finish.begin(), finish.end()) - finish.begin());
  sum.start_at(finish[task]);
  while (task != kNoTask) {
    const Picoseconds start = run.timeline.start_ps[task];
    const std::uint32_t kind = kinds[task];
    if (kind == kCompute || kind == kHost) {
      sum.back_to(start, kind == kHost ? path.host_ps : path.compute_ps);
    } else if (kind >= kFirstPass) {
      sum.back_to(start + run.pass_prices[kind - kFirstPass].duration_ps,
                  path.communication_ps[static_cast<std::size_t>(Dimension::tensor)]);
      sum.back_to(start, path.compute_ps);
    } else {
      const Picoseconds alone = run.expanded.graph.cost_of(task).duration_ps;
      sum.back_to(std::min(finish[task], start + alone), path.wait_ps);
      sum.back_to(start, path.communication_ps[kind]);
    }
    const std::uint32_t before = last_predecessor(run, task);
    const Picoseconds released =
        before == kNoTask ? 0 : run.expanded.graph.released(task, before, finish[before]);
    sum.back_to(released, path.wait_ps);
    if (before != kNoTask) sum.back_to(finish[before], path.host_ps);
    task = before;
  }
  return path;
}

}  // namespace orrery
