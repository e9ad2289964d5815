#include "reports/trace/plan.hpp"

#include <algorithm>
#include <string>

#include "orrery/error.hpp"

namespace orrery {
namespace {

std::uint64_t spans_of(const TracePlan& plan, const std::vector<std::uint32_t>& ranks,
                       bool once_per_class = false) {
  std::uint64_t spans = 0;
  const auto& class_of_rank = plan.run.expanded.representatives.class_of_rank;
  std::vector<bool> seen(plan.run.expanded.classes());
  for (const std::uint32_t rank : ranks) {
    if (once_per_class && seen[class_of_rank[rank]]) continue;
    seen[class_of_rank[rank]] = true;
    spans += plan.spans_of(rank);
  }
  return spans;
}

std::vector<std::uint32_t> checked(std::vector<std::uint32_t> ranks, std::uint32_t count) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  if (ranks.back() < count) return ranks;
  throw InputError("", "trace rank " + std::to_string(ranks.back()) + " does not exist; ranks are 0 to " +
                           std::to_string(count - 1));
}

}  // namespace

std::vector<std::uint32_t> ranks_within(const TracePlan& plan, const RankGrid& grid, std::uint64_t max_spans,
                                        bool once_per_class) {
  std::vector<std::uint32_t> all(plan.run.workload.ranks());
  for (std::uint32_t r = 0; r < all.size(); ++r) all[r] = r;
  if (spans_of(plan, all, once_per_class) <= max_spans) return all;
  std::vector<std::uint32_t> replica;
  std::vector<std::uint32_t> stages;
  for (const std::uint32_t rank : all) {
    RankCoordinates at = grid.coordinates(rank);
    if (at[Axis::data] != 0) continue;
    replica.push_back(rank);
    at[Axis::pipeline] = 0;
    if (at == RankCoordinates{}) stages.push_back(rank);
  }
  return spans_of(plan, replica, once_per_class) <= max_spans ? replica : stages;
}

namespace {

/// Groups the operations of the compute stream `all` that are in `chosen`, a subset of it, by step.
std::vector<StepOps> steps_of(const Program& program, const std::vector<std::uint32_t>& all,
                              const std::vector<std::uint32_t>& chosen) {
  std::vector<StepOps> steps;
  std::size_t at = 0;
  for (const std::uint32_t op : chosen) {
    while (all[at] != op) ++at;
    const bool follows = !steps.empty() && steps.back().last_op == all[at - 1];
    if (!follows || steps.back().step != program.ops[op].step) {
      StepOps& step = steps.emplace_back(StepOps{program.ops[op].step, op, op, std::nullopt, false});
      if (at > 0) step.op_before = all[at - 1];
    }
    ++at;
    steps.back().last_op = op;
    steps.back().is_last = at == all.size();
  }
  return steps;
}

void add_parents(TracePlan& plan) {
  constexpr auto kCompute = static_cast<std::size_t>(Stream::compute);
  for (std::size_t p = 0; p < plan.streams.size(); ++p) {
    const Program& program = plan.run.workload.programs[p];
    const auto& chosen = plan.streams[p][kCompute];
    plan.steps[p] = steps_of(program, plan.run.layout.programs[p].streams[kCompute], chosen);
    if (plan.level != TraceLevel::step) plan.passes[p] = passes_of(program, chosen);
  }
}

void count(TracePlan& plan) {
  for (std::size_t p = 0; p < plan.streams.size(); ++p) {
    std::uint64_t operations = 0;
    for (const auto& list : plan.streams[p]) operations += list.size();
    const std::uint64_t parents = plan.steps[p].size() + plan.passes[p].size();
    plan.program_operations.push_back(operations);
    plan.program_spans.push_back(parents + (plan.level == TraceLevel::operation ? operations : 0));
  }
}

void choose_operations(TracePlan& plan, const TraceOptions& options) {
  for (const Program& program : plan.run.workload.programs) {
    plan.streams.push_back(stream_ops(program, plan.run.workload.streams, options.steps));
    StreamOps& memory_ops = plan.memory_ops.emplace_back(plan.streams.back());
    for (auto& list : memory_ops) {
      std::erase_if(list, [&program](std::uint32_t op) { return !program.ops[op].changes_memory(); });
    }
  }
  plan.steps.resize(plan.streams.size());
  plan.passes.resize(plan.streams.size());
}

void choose_ranks(TracePlan& plan, const RankGrid& grid, const TraceOptions& options) {
  plan.ranks = options.ranks.empty() ? ranks_within(plan, grid, options.max_spans)
                                     : checked(options.ranks, plan.run.workload.ranks());
  for (const std::uint32_t rank : plan.ranks) plan.has_rank[rank] = true;
  plan.spans = spans_of(plan, plan.ranks);
  for (const std::uint32_t rank : plan.ranks) plan.operations += plan.operations_of(rank);
}

TracePlan make_plan(const RunView& run, const RankGrid& grid, const TraceOptions& options, bool parents) {
  TracePlan plan(run, options.level);
  plan.all_steps = options.steps.empty();
  plan.chosen_steps = options.steps;
  choose_operations(plan, options);
  if (parents) add_parents(plan);
  count(plan);
  choose_ranks(plan, grid, options);
  return plan;
}

}  // namespace

TracePlan plan_trace(const RunView& run, const RankGrid& grid, const TraceOptions& options) {
  return make_plan(run, grid, options, true);
}

TracePlan plan_operations(const RunView& run, const RankGrid& grid, const TraceOptions& options) {
  return make_plan(run, grid, options, false);
}

}  // namespace orrery
