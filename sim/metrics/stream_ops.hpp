// Sorts a program's operations by stream. Operations of one stream run in program order, so each list is
// sorted by time whatever the timeline; used by the breakdown and by the trace writer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "orrery/workload.hpp"

namespace orrery {

using StreamOps = std::vector<std::vector<std::uint32_t>>;

/// Indices into `program.ops` by Op::stream, of which there are `streams`. `steps`: keep operations of these
/// training steps only; empty keeps all.
[[nodiscard]] inline StreamOps stream_ops(const Program& program, std::uint32_t streams,
                                          std::span<const std::int32_t> steps = {}) {
  StreamOps out(streams);
  std::vector<std::size_t> sizes(streams, 0);
  for (const Op& op : program.ops) ++sizes[static_cast<std::size_t>(op.stream)];
  for (std::size_t s = 0; s < streams; ++s) out[s].reserve(sizes[s]);
  for (std::uint32_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    if (!steps.empty() && std::find(steps.begin(), steps.end(), op.step) == steps.end()) continue;
    out[static_cast<std::size_t>(op.stream)].push_back(i);
  }
  return out;
}

}  // namespace orrery
