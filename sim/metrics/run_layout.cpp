#include "sim/metrics/run_layout.hpp"

#include <algorithm>

namespace orrery {
namespace {

/// Streams of communication have kernels of their own beside it.
Dimension dimension_of(const Workload& workload, const Op& op) {
  if (op.kind == Op::Kind::communicate) return workload.messages[op.work].dimension;
  return is_offload(op.stream) ? Dimension::offload : Dimension::data;
}

ProgramLayout lay_out(const Workload& workload, const Program& program) {
  ProgramLayout layout;
  layout.streams = stream_ops(program, workload.streams);
  layout.priority.resize(program.ops.size());
  layout.host.resize(program.ops.size());
  std::uint32_t host = ProgramLayout::kNoHost;
  for (std::uint32_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    layout.host[i] = host;
    if (op.stream == Stream::host) host = i;
    if (op.stream == Stream::compute || op.stream == Stream::host) continue;
    layout.priority[i] = kWaitPriority[static_cast<std::size_t>(dimension_of(workload, op))];
  }
  return layout;
}

}  // namespace

RunLayout::RunLayout(const Workload& workload, const ExpandedGraph& expanded) {
  for (const Program& program : workload.programs) programs.push_back(lay_out(workload, program));
  for (std::uint32_t c = 0; c < expanded.classes(); ++c) programs[expanded.program[c]].classes.push_back(c);
  for (ProgramLayout& program : programs)
    std::ranges::sort(program.classes, {}, [&](std::uint32_t c) { return expanded.position[c]; });
}

std::size_t RunLayout::bytes() const {
  constexpr std::size_t kOp =
      2 * sizeof(std::uint32_t) + sizeof(std::uint8_t);  // in a stream; priority, host
  std::size_t sum = sizeof *this;
  for (const ProgramLayout& program : programs)
    sum += sizeof program + program.host.size() * kOp + program.classes.size() * sizeof(std::uint32_t);
  return sum;
}

}  // namespace orrery
