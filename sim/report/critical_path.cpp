#include "sim/report/critical_path.hpp"

#include <algorithm>

namespace orrery {
namespace {

constexpr std::uint8_t kCompute = kDimensionCount;

/// What a task is: its Dimension, or kCompute. The tasks of one operation are neighbours, so one
/// entry an operation is enough.
class TaskKinds {
 public:
  explicit TaskKinds(const RunView& run) {
    const Workload& workload = run.workload;
    for (std::size_t p = 0; p < workload.programs.size(); ++p) {
      const auto& ops = workload.programs[p].ops;
      for (std::size_t i = 0; i < ops.size(); ++i) {
        const bool compute = ops[i].kind == Op::Kind::compute;
        const auto kind =
            compute ? kCompute : static_cast<std::uint8_t>(workload.messages[ops[i].work].dimension);
        blocks_.push_back({run.expanded.first_task[p][i], kind});
      }
    }
    std::sort(blocks_.begin(), blocks_.end(),
              [](const Block& a, const Block& b) { return a.first < b.first; });
  }

  [[nodiscard]] std::uint8_t operator()(std::uint32_t task) const {
    const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), task,
                                        [](std::uint32_t t, const Block& b) { return t < b.first; });
    return std::prev(after)->kind;
  }

 private:
  struct Block {
    std::uint32_t first;
    std::uint8_t kind;
  };
  std::vector<Block> blocks_;
};

constexpr std::uint32_t kNoTask = 0xffffffff;

/// The one that finished last, the lowest id on ties.
std::uint32_t last_predecessor(const RunView& run, std::uint32_t task) {
  const auto& finish = run.timeline.finish_ps;
  std::uint32_t best = kNoTask;
  for (const std::uint32_t p : run.expanded.graph.predecessors(task)) {
    if (best == kNoTask || finish[p] > finish[best] || (finish[p] == finish[best] && p < best)) best = p;
  }
  return best;
}

}  // namespace

CriticalPath trace_critical_path(const RunView& run) {
  CriticalPath path;
  const auto& finish = run.timeline.finish_ps;
  if (finish.empty()) return path;
  const TaskKinds kind_of(run);
  auto task = static_cast<std::uint32_t>(std::max_element(finish.begin(), finish.end()) - finish.begin());
  while (task != kNoTask) {
    const Picoseconds start = run.timeline.start_ps[task];
    const Picoseconds duration = finish[task] - start;
    const std::uint8_t kind = kind_of(task);
    if (kind == kCompute) {
      path.compute_ps += duration;
    } else {
      const Picoseconds alone = std::min(duration, run.expanded.graph.cost_of(task).duration_ps);
      path.communication_ps[kind] += alone;
      path.wait_ps += duration - alone;
    }
    task = last_predecessor(run, task);
    path.wait_ps += start - (task == kNoTask ? 0 : finish[task]);
  }
  return path;
}

}  // namespace orrery
