#include "sim/metrics/memory_moment.hpp"

#include <algorithm>
#include <utility>

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
    case PeakMoment::Pass::update:
      return phase == Phase::optimize;
    case PeakMoment::Pass::weight_gradient:
      break;
  }
  return phase == Phase::weight_gradient;
}

/// The update belongs to no micro-batch.
bool is_in_pass(const PeakMoment& moment, const Op& op) {
  const bool of_pass = moment.pass == PeakMoment::Pass::update ||
                       (op.micro_batch == moment.micro_batch && op.chunk == moment.chunk);
  return op.kind != Op::Kind::communicate && op.stream == Stream::compute && op.step == 0 && of_pass &&
         is_in(moment.pass, op.phase);
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

/// Returns the operation of a peak: the first of a layer. The end of a chunk comes last in a forward pass and
/// first in a backward pass; a fused pass is one operation.
std::optional<std::uint32_t> operation_at(const PeakMoment& moment, const Program& program) {
  const std::int32_t layer = moment.layer < 0 ? -1 : first_layer(moment, program) + moment.layer;
  const bool last = layer < 0 && moment.at_end == (moment.pass == PeakMoment::Pass::forward);
  std::optional<std::uint32_t> found;
  for (std::uint32_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    if (!is_in_pass(moment, op) || (op.kind != Op::Kind::pass && op.layer != layer)) continue;
    found = i;
    if (!last) break;
  }
  return found;
}

MemoryTimeline memory_of_program(const RunView& run, std::uint32_t program) {
  const std::uint32_t of = class_of_program(run, program);
  const std::vector<Op>& ops = run.workload.programs[program].ops;
  Bytes held = run.workload.stage_memory[program].standing;
  MemoryTimeline points{{0, held}};
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
  return points;
}

}  // namespace

std::optional<PeakPlace> place_of_peak(std::span<const StageMemory> stages, const ShortenedRun& run) {
  const auto fullest = std::ranges::max_element(stages, {}, &StageMemory::total);
  if (fullest == stages.end()) return {};
  PeakPlace place{static_cast<std::uint32_t>(fullest - stages.begin()), fullest->moment, -1, -1};
  if (run.simulated == run.all) {  // replicas may have more or fewer
    place.from_begin = std::exchange(place.moment.micro_batch, 0);
    return place;
  }
  const std::int64_t of_copy = run.all / run.copies;
  const std::int64_t simulated = run.simulated / run.copies;
  const std::int64_t first = place.moment.micro_batch / of_copy * simulated;
  const std::int64_t number = place.moment.micro_batch % of_copy;
  const std::int64_t from_end = number - (of_copy - simulated);
  if (number < simulated) place.from_begin = static_cast<std::int32_t>(first + number);
  if (from_end >= 0) place.from_end = static_cast<std::int32_t>(first + from_end);
  place.moment.micro_batch = 0;
  return place;
}

std::optional<PeakTime> time_of_peak(const RunView& run, const ShortenedRun& shortened) {
  const std::optional<PeakPlace> place = place_of_peak(run.workload.stage_memory, shortened);
  if (!place) return {};
  const Program& program = run.workload.programs[place->program];
  const std::uint32_t end =
      shortened.part.empty() ? RunPart::Ops{}.last : shortened.part[place->program].last;
  for (const bool after : {false, true}) {
    PeakMoment moment = place->moment;
    moment.micro_batch = after ? place->from_end : place->from_begin;
    if (moment.micro_batch < 0) continue;
    const std::optional<std::uint32_t> op = operation_at(moment, program);
    if (!op || (*op >= end) != after) continue;
    return PeakTime{run.timeline.start_ps[run.expanded.task(class_of_program(run, place->program), *op)],
                    after};
  }
  return {};
}

std::vector<MemoryTimeline> memory_over_time(const RunView& run) {
  std::vector<MemoryTimeline> programs;
  for (std::uint32_t p = 0; p < run.workload.programs.size(); ++p)
    programs.push_back(memory_of_program(run, p));
  return programs;
}

std::vector<MemoryTimeline> memory_of_stages(const RunView& run, std::size_t stages) {
  const std::vector<StageMemory>& memory = run.workload.stage_memory;
  std::vector<MemoryTimeline> timelines;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    std::size_t fullest = stage;
    for (std::size_t p = stage; p < memory.size(); p += stages)
      if (memory[p].total() > memory[fullest].total()) fullest = p;
    timelines.push_back(memory_of_program(run, static_cast<std::uint32_t>(fullest)));
  }
  return timelines;
}

}  // namespace orrery
