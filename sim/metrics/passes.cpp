#include "sim/metrics/passes.hpp"

namespace orrery {
namespace {

bool continues(const PassOps& pass, const Op& op) {
  return pass.phase == phase_of_pass(op) && pass.step == op.step && pass.micro_batch == op.micro_batch &&
         pass.chunk == op.chunk;
}

}  // namespace

Phase phase_of_pass(const Op& op) {
  if (op.micro_batch < 0) return Phase::optimize;
  return op.phase == Phase::recompute ? Phase::backward : op.phase;
}

std::vector<PassOps> passes_of(const Program& program, std::span<const std::uint32_t> compute_ops) {
  std::vector<PassOps> passes;
  for (const std::uint32_t i : compute_ops) {
    const Op& op = program.ops[i];
    if (passes.empty() || !continues(passes.back(), op))
      passes.push_back({phase_of_pass(op), op.step, op.micro_batch, op.chunk, i, i});
    passes.back().last_op = i;
  }
  return passes;
}

std::vector<PassSpan> passes_of(const RunView& run, std::uint32_t rank) {
  const std::uint32_t of = run.expanded.representatives.class_of_rank[rank];
  const std::uint32_t program = run.expanded.program[of];
  const auto& compute_ops = run.layout.programs[program].streams[std::size_t(Stream::compute)];
  std::vector<PassSpan> passes;
  for (const PassOps& pass : passes_of(run.workload.programs[program], compute_ops)) {
    passes.push_back({pass, run.timeline.start_ps[run.expanded.task(of, pass.first_op)],
                      run.timeline.finish_ps[run.expanded.task(of, pass.last_op)]});
  }
  return passes;
}

}  // namespace orrery
