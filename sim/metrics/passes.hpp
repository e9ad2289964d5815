// Finds the passes of a finished run: which operations of a program belong to one pass of one micro-batch,
// and when a rank began and ended it. Read by whatever draws a run: traces, pictures, pages.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/metrics/build_report.hpp"

namespace orrery {

/// Spans the operations of a program's compute stream from one change of pass, micro-batch, chunk or step to
/// the next.
struct PassOps {
  /// forward; backward, which has its recomputation in it; weight_gradient, where a schedule splits backward
  /// passes; optimize, all that belongs to no micro-batch.
  Phase phase = Phase::forward;
  std::int32_t step = 0;
  std::int32_t micro_batch = -1;  ///< -1 of Phase::optimize
  std::int32_t chunk = 0;
  std::uint32_t first_op = 0;  ///< of Program::ops, both on the compute stream
  std::uint32_t last_op = 0;
};

/// Adds the times on a rank.
struct PassSpan : PassOps {
  Picoseconds start_ps = 0;
  Picoseconds finish_ps = 0;
};

/// Returns the passes of the given operations of the program's compute stream, which are in order.
[[nodiscard]] std::vector<PassOps> passes_of(const Program& program,
                                             std::span<const std::uint32_t> compute_ops);

/// Returns the passes in order of time, without overlaps. They contain waits for tensor groups and for the
/// host.
[[nodiscard]] std::vector<PassSpan> passes_of(const RunView& run, std::uint32_t rank);

/// The pass that an operation of any stream belongs to.
[[nodiscard]] Phase phase_of_pass(const Op& op);

}  // namespace orrery
