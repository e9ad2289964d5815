#include "studies/explain/replay.hpp"

#include <algorithm>

#include "sim/engine/engine.hpp"
#include "sim/run/prepare.hpp"

namespace orrery {
namespace {

/// Returns the time of an operation with the factors on its kernels; gaps between launches stay.
Picoseconds slowed(const Run& run, const Op& op, Picoseconds duration, const Slowdowns& slowdowns) {
  if (op.kind == Op::Kind::communicate) {
    const auto dimension = static_cast<std::size_t>(run.workload.messages[op.work].dimension);
    return static_cast<Picoseconds>(static_cast<double>(duration) * slowdowns.messages[dimension] + 0.5);
  }
  const Picoseconds gaps = std::min(run.prices.kernel_sequences[op.work].launch_ps, duration);
  std::vector<Picoseconds> parts;
  run.kernels.of(op).split(duration - gaps, parts);
  const bool updates = op.phase == Phase::optimize;
  double sum = static_cast<double>(gaps);
  for (std::size_t k = 0; k < parts.size(); ++k)
    sum += static_cast<double>(parts[k]) *
           slowdowns.kernels[updates ? static_cast<std::size_t>(KernelUse::optimizer) : k];
  return static_cast<Picoseconds>(sum + 0.5);
}

/// The tasks of a run, each with a cost of its own.
TaskGraph with_own_costs(const Run& run, const Slowdowns& slowdowns) {
  TaskGraph graph;
  const TaskGraph& old = run.expanded.graph;
  graph.pred_begin = old.pred_begin;
  graph.preds = old.preds;
  graph.lag = old.lag;
  graph.costs.resize(old.tasks());
  for (std::uint32_t task = 0; task < old.tasks(); ++task) {
    graph.cost.push_back(task);
    graph.costs[task].duration_ps = run.timeline.finish_ps[task] - run.timeline.start_ps[task];
  }
  for (std::uint32_t cls = 0; cls < run.expanded.classes(); ++cls) {
    const Program& program = run.workload.programs[run.expanded.program[cls]];
    for (std::uint32_t index = 0; index < program.ops.size(); ++index) {
      const Op& op = program.ops[index];
      const std::uint32_t task = run.expanded.task(cls, index);
      if (op.stream == Stream::host || is_offload(op.stream)) continue;
      const Picoseconds alone = run.timeline.finish_ps[task] - run.timeline.start_ps[task];
      graph.costs[task].duration_ps = slowed(run, op, alone, slowdowns);
    }
  }
  return graph;
}

}  // namespace

const Run& Replay::run_with(const Slowdowns& slowdowns) {
  std::unique_ptr<const Run>& known = runs_[{slowdowns.ranks, slowdowns.interference}];
  if (known != nullptr) return *known;
  Experiment changed = experiment_;
  if (slowdowns.interference >= 0) changed.software.communication_interference = slowdowns.interference;
  for (const auto& [rank, factor] : slowdowns.ranks)
    changed.cluster.overrides.push_back({rank, 1, 1 / factor});
  Memo memo;
  known = std::make_unique<const Run>(run_in_layers(prepare(changed, memo), memo));
  return *known;
}

Picoseconds Replay::step_ps(const Slowdowns& slowdowns) {
  const Run& run = run_with(slowdowns);
  return run_contention_free(with_own_costs(run, slowdowns)).makespan_ps / run.workload.steps;
}

}  // namespace orrery
