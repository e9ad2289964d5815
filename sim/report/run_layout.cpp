#include "sim/report/run_layout.hpp"

#include <algorithm>

namespace orrery {
namespace {

ProgramLayout lay_out(const Workload& workload, const Program& program) {
  ProgramLayout layout;
  layout.streams = stream_ops(program, workload.streams);
  layout.priority.reserve(program.ops.size());
  layout.host.reserve(program.ops.size());
  std::uint32_t host = ProgramLayout::kNoHost;
  for (const Op& op : program.ops) {
    layout.host.push_back(host);
    if (op.stream == Stream::host) host = static_cast<std::uint32_t>(layout.host.size() - 1);
    const bool communicates = op.kind == Op::Kind::communicate;
    layout.priority.push_back(
        communicates ? kWaitPriority[static_cast<std::size_t>(workload.messages[op.work].dimension)] : 0);
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

}  // namespace orrery
