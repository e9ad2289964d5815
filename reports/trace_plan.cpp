#include "reports/trace_plan.hpp"

#include <algorithm>
#include <string>

#include "orrery/error.hpp"

namespace orrery {
namespace {

std::uint64_t spans_of(const TracePlan& plan, const std::vector<std::uint32_t>& ranks) {
  std::vector<std::uint64_t> per_program;
  for (const StreamOps& streams : plan.streams) {
    std::uint64_t& ops = per_program.emplace_back(0);
    for (const auto& list : streams) ops += list.size();
  }
  std::uint64_t spans = 0;
  for (const std::uint32_t rank : ranks) spans += per_program[plan.program_of(rank)];
  return spans;
}

std::vector<std::uint32_t> checked(std::vector<std::uint32_t> ranks, std::uint32_t count) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  if (ranks.back() < count) return ranks;
  throw InputError("", "trace rank " + std::to_string(ranks.back()) + " does not exist; ranks are 0 to " +
                           std::to_string(count - 1));
}

/// All ranks, or those of the first data-parallel replica, or one per pipeline stage: the first of
/// these that stays within `max_spans`, else the last.
std::vector<std::uint32_t> default_ranks(const TracePlan& plan, const RankGrid& grid,
                                         std::uint64_t max_spans) {
  std::vector<std::uint32_t> all(plan.run.workload.ranks());
  for (std::uint32_t r = 0; r < all.size(); ++r) all[r] = r;
  if (spans_of(plan, all) <= max_spans) return all;
  std::vector<std::uint32_t> replica;
  std::vector<std::uint32_t> stages;
  for (const std::uint32_t rank : all) {
    RankCoordinates at = grid.coordinates(rank);
    if (at[Axis::data] != 0) continue;
    replica.push_back(rank);
    at[Axis::pipeline] = 0;
    if (at == RankCoordinates{}) stages.push_back(rank);
  }
  return spans_of(plan, replica) <= max_spans ? replica : stages;
}

}  // namespace

TracePlan plan_trace(const RunView& run, const RankGrid& grid, const TraceOptions& options) {
  TracePlan plan{run, {}, std::vector<bool>(run.workload.ranks()), {}, {}};
  for (const Program& program : run.workload.programs) {
    plan.streams.push_back(stream_ops(program, run.workload.streams, options.steps));
    StreamOps& memory_ops = plan.memory_ops.emplace_back(plan.streams.back());
    for (auto& list : memory_ops) {
      std::erase_if(list, [&program](std::uint32_t op) { return !program.ops[op].changes_memory(); });
    }
  }
  plan.ranks = options.ranks.empty() ? default_ranks(plan, grid, options.max_spans)
                                     : checked(options.ranks, run.workload.ranks());
  for (const std::uint32_t rank : plan.ranks) plan.has_rank[rank] = true;
  plan.spans = spans_of(plan, plan.ranks);
  plan.all_steps = options.steps.empty();
  return plan;
}

}  // namespace orrery
