// Lists the contents of a trace: the chosen ranks and, per program, the operations of the chosen steps.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "reports/trace/source.hpp"
#include "reports/writers.hpp"
#include "sim/metrics/passes.hpp"
#include "sim/metrics/stream_ops.hpp"

namespace orrery {

/// Describes a training step on a compute stream: from the end of the work before it (or the run's beginning)
/// to the end of its last operation (or the run's end). The steps of a rank thus fill its time, and time
/// outside their passes is waiting.
struct StepOps {
  std::int32_t step = 0;
  std::uint32_t first_op = 0;
  std::uint32_t last_op = 0;
  std::optional<std::uint32_t> op_before;
  bool is_last = false;
};

struct TracePlan {
  TracePlan(const RunView& of, TraceLevel shown) : run(of), level(shown), has_rank(of.workload.ranks()) {}

  const RunView& run;
  TraceLevel level;
  std::vector<std::uint32_t> ranks;          ///< ascending
  std::vector<bool> has_rank;                ///< per rank
  std::vector<StreamOps> streams;            ///< per program
  std::vector<StreamOps> memory_ops;         ///< per program: those of them that change the memory in use
  std::vector<std::vector<StepOps>> steps;   ///< per program
  std::vector<std::vector<PassOps>> passes;  ///< per program; empty at TraceLevel::step
  std::uint64_t spans = 0;                   ///< of the level
  std::uint64_t operations = 0;              ///< of the chosen ranks, whether the level shows them or not
  std::vector<std::uint64_t> program_spans;  ///< per program
  std::vector<std::uint64_t> program_operations;  ///< likewise
  bool all_steps = true;
  std::vector<std::int32_t> chosen_steps;  ///< where not all

  [[nodiscard]] bool shows_step(std::int32_t step) const {
    return all_steps || std::ranges::find(chosen_steps, step) != chosen_steps.end();
  }
  [[nodiscard]] std::uint64_t spans_of(std::uint32_t rank) const { return program_spans[program_of(rank)]; }
  [[nodiscard]] std::uint64_t operations_of(std::uint32_t rank) const {
    return program_operations[program_of(rank)];
  }

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

/// Returns all ranks, or those of the first data-parallel replica, or one per pipeline stage: the first of
/// these that stays within `max_spans`, else the last. `once_per_class`: spans of ranks that are simulated as
/// one count once.
[[nodiscard]] std::vector<std::uint32_t> ranks_within(const TracePlan& plan, const RankGrid& grid,
                                                      std::uint64_t max_spans, bool once_per_class = false);

/// Throws InputError when a rank in `options` does not exist.
[[nodiscard]] TracePlan plan_trace(const RunView& run, const RankGrid& grid, const TraceOptions& options);
/// Plans a trace with operations only, without passes and steps.
[[nodiscard]] TracePlan plan_operations(const RunView& run, const RankGrid& grid,
                                        const TraceOptions& options);

}  // namespace orrery
