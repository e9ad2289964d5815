#include "sim/metrics/memory_moment.hpp"

#include <algorithm>

namespace orrery {
namespace {

/// A class of ranks that run a program; there is one.
std::uint32_t class_of_program(const RunView& run, std::uint32_t program) {
  std::uint32_t c = 0;
  while (run.expanded.program[c] != program) ++c;
  return c;
}

bool is_in(PeakMoment::Pass pass, Phase phase) {
  switch (pass) {
    case PeakMoment::Pass::none:
      return false;
    case PeakMoment::Pass::forward:
      return phase == Phase::forward;
    case PeakMoment::Pass::backward:
      return phase == Phase::backward || phase == Phase::recompute;
    case PeakMoment::Pass::weight_gradient:
      break;
  }
  return phase == Phase::weight_gradient;
}

bool is_in_pass(const PeakMoment& moment, const Op& op) {
  return op.kind != Op::Kind::communicate && op.stream == Stream::compute && op.step == 0 &&
         op.micro_batch == moment.micro_batch && op.chunk == moment.chunk && is_in(moment.pass, op.phase);
}

/// Stages alike may share a program, so that layers count from the first one in it.
std::int32_t first_layer(const PeakMoment& moment, const Program& program) {
  std::int32_t first = -1;
  for (const Op& op : program.ops) {
    if (op.layer < 0 || !is_in_pass(moment, op)) continue;
    first = first < 0 ? op.layer : std::min(first, op.layer);
  }
  return first;
}

/// What ends a chunk comes last in a forward pass, and first in a backward pass. A fused pass is one
/// operation.
std::optional<std::uint32_t> operation_at(const PeakMoment& moment, const Program& program) {
  const std::int32_t layer = moment.layer < 0 ? -1 : first_layer(moment, program) + moment.layer;
  const bool last = moment.at_end == (moment.pass == PeakMoment::Pass::forward);
  std::optional<std::uint32_t> found;
  for (std::uint32_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    if (!is_in_pass(moment, op) || (op.kind != Op::Kind::pass && op.layer != layer)) continue;
    found = i;
    if (!last) break;
  }
  return found;
}

}  // namespace

std::optional<Picoseconds> time_of_peak(const RunView& run) {
  const auto& stages = run.workload.stage_memory;
  const auto fullest = std::ranges::max_element(stages, {}, &StageMemory::total);
  if (fullest == stages.end()) return {};
  const auto program = static_cast<std::uint32_t>(fullest - stages.begin());
  const std::optional<std::uint32_t> op = operation_at(fullest->moment, run.workload.programs[program]);
  if (!op) return {};
  return run.timeline.start_ps[run.expanded.task(class_of_program(run, program), *op)];
}

std::vector<MemoryTimeline> memory_over_time(const RunView& run) {
  std::vector<MemoryTimeline> stages;
  for (std::uint32_t p = 0; p < run.workload.programs.size(); ++p) {
    const std::uint32_t of = class_of_program(run, p);
    const std::vector<Op>& ops = run.workload.programs[p].ops;
    Bytes held = run.workload.stage_memory[p].standing;
    MemoryTimeline& points = stages.emplace_back(MemoryTimeline{{0, held}});
    const auto change = [&](Picoseconds at, Bytes by) {
      held += by;
      if (points.back().at_ps < at) points.push_back({at, held});
      points.back().bytes = std::max(points.back().bytes, held);
    };
    for (std::uint32_t op = 0; op < ops.size(); ++op) {
      if (!ops[op].changes_memory()) continue;
      const std::uint32_t task = run.expanded.task(of, op);
      change(run.timeline.start_ps[task], ops[op].memory_at_start);
      change(run.timeline.finish_ps[task], ops[op].memory_at_finish);
    }
  }
  return stages;
}

}  // namespace orrery
