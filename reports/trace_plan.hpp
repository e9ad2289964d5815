// What a trace will hold: the chosen ranks and, per program, the operations of the chosen steps.
// Times in a trace are whole nanoseconds, start and finish both rounded down, so that slices that
// touch in ps touch in ns.
#pragma once

#include <vector>

#include "reports/writers.hpp"
#include "sim/metrics/stream_ops.hpp"

namespace orrery {

using Nanoseconds = std::int64_t;

struct Span {
  Nanoseconds start = 0;
  Nanoseconds finish = 0;
};

struct TracePlan {
  const RunView& run;
  std::vector<std::uint32_t> ranks;   ///< ascending
  std::vector<bool> has_rank;         ///< per rank
  std::vector<StreamOps> streams;     ///< per program
  std::vector<StreamOps> memory_ops;  ///< per program: those of them that change the memory in use
  std::uint64_t spans = 0;
  bool all_steps = true;

  [[nodiscard]] std::uint32_t program_of(std::uint32_t rank) const {
    return run.expanded.program[run.expanded.representatives.class_of_rank[rank]];
  }
  [[nodiscard]] const Op& op(std::uint32_t rank, std::uint32_t op) const {
    return run.workload.programs[program_of(rank)].ops[op];
  }
  /// The task in which `rank` executes an operation.
  [[nodiscard]] std::uint32_t task(std::uint32_t rank, std::uint32_t op) const {
    return run.expanded.task(run.expanded.representatives.class_of_rank[rank], op);
  }
  [[nodiscard]] Span span(std::uint32_t rank, std::uint32_t op) const {
    const std::uint32_t at = task(rank, op);
    return {run.timeline.start_ps[at] / 1000, run.timeline.finish_ps[at] / 1000};
  }
  /// Members of the communicator that a communication of `rank` runs in: real ranks, folded or not.
  [[nodiscard]] std::span<const std::uint32_t> members(std::uint32_t rank, const Op& op) const {
    return run.workload.members(run.workload.group(rank, op.slot));
  }
};

/// Throws InputError when a rank in `options` does not exist.
[[nodiscard]] TracePlan plan_trace(const RunView& run, const RankGrid& grid, const TraceOptions& options);

}  // namespace orrery
