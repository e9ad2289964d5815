#include "sim/step/program_set.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "orrery/fragments.hpp"
#include "sim/step/program_hash.hpp"
#include "workloads/schedules/schedules.hpp"

namespace orrery {
namespace {

struct ProgramSet {
  SharedArray<Program> programs;
  bool told_by_few = false;  ///< programs of few micro-batches have the same kernels, messages and passes

  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = sizeof *this;
    for (const Program& program : programs)
      sum += program.ops.size() * sizeof(Op) + program.deps.size() * sizeof(std::uint32_t);
    return sum;
  }
};

/// Smallest micro-batch count whose programs contain every distinct operation.
std::int64_t few_micro_batches(const Plan& plan) {
  constexpr std::int64_t kFirstMiddleLast = 3;
  const PipelineSchedule& schedule = schedule_of(plan);
  ScheduleShape shape = schedule_shape(plan);
  const std::int64_t period = schedule.steady_state(shape).period * plan.model_copies();
  shape.micro_batches = (kFirstMiddleLast + period - 1) / period * period;
  if (schedule.obstacle != nullptr && schedule.obstacle(shape)) return plan.micro_batches();
  return std::min(plan.micro_batches(), shape.micro_batches);
}

/// Returns one stage of each kind with equal programs, and appends the kind of each stage to the key.
/// `by_layer`: the messages of a stage depend on which layers it has.
std::vector<Stage> kinds_of(std::span<const Stage> stages, bool by_layer, ContentHash& key) {
  std::vector<Stage> kinds;
  for (const Stage& stage : stages) {
    const auto like =
        std::ranges::find_if(kinds, [&](const Stage& kind) { return !by_layer && alike(kind, stage); });
    key.append(static_cast<std::uint64_t>(like - kinds.begin()));
    if (like == kinds.end()) kinds.push_back(stage);
  }
  return kinds;
}

bool same_content(const Workload& a, const Workload& b) {
  return a.kernel_sequences == b.kernel_sequences && a.messages == b.messages && a.passes == b.passes;
}

/// Appends the number and order of micro-batches, which distinguish programs with many micro-batches from
/// those with few.
void append_order(const Experiment& experiment, ContentHash& key) {
  const Plan& plan = experiment.plan;
  append_content(key, plan.pipeline_schedule);
  append_content(key, plan.micro_batches());
  append_content(key, plan.pipeline_parallel);
  append_content(key, plan.virtual_stages);
  append_content(key, plan.micro_batch_group_size);
  append_content(key, plan.warmup_micro_batches);
  append_content(key, plan.overlap_expert_parallel);  // few micro-batches may have no two side by side
  append_content(key, experiment.simulation.steps);
}

Workload write_all(const StepInput& input) {
  const Outline& outlined = input.prepared.outlined;
  Workload whole = outlined.workload;
  write_programs(input.experiment, input.prepared.layout, outlined.blocks, outlined.stages.list(), whole);
  return whole;
}

}  // namespace

ContentHash write_programs_of(const StepInput& input, bool own, Memo& memo, Workload& workload) {
  const Experiment& experiment = input.experiment;
  ContentHash key;
  if (own || !experiment.plan.replica_batch_sizes.empty()) {
    workload = write_all(input);
    key.append(hash_programs(workload));
    return key;
  }
  const Experiment few_experiment = with_micro_batches(experiment, few_micro_batches(experiment.plan));
  const bool by_layer = fragments_by_layer(experiment.data_parallel_sync);
  const std::vector<Stage> kinds = kinds_of(input.prepared.outlined.stages.list(), by_layer, key);
  Workload few = input.prepared.outlined.workload;
  write_programs(few_experiment, input.prepared.layout, input.prepared.outlined.blocks, kinds, few);
  key.append(hash_programs(few));
  append_order(experiment, key);
  std::optional<Workload> whole;
  const auto programs = memo.get<ProgramSet>(MemoKind::programs, key, [&] {
    whole = write_all(input);
    return ProgramSet{whole->programs, same_content(*whole, few)};
  });
  if (!programs->told_by_few) {
    workload = whole ? *std::move(whole) : write_all(input);
    return hash_programs(workload);
  }
  workload = std::move(few);
  workload.programs = programs->programs;
  return key;
}

}  // namespace orrery
