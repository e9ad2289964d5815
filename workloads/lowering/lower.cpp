#include "workloads/lowering/lower.hpp"

#include <string>
#include <utility>

#include "orrery/error.hpp"
#include "workloads/communicators/batch_classes.hpp"
#include "workloads/communicators/communicators.hpp"
#include "workloads/lowering/stage_program.hpp"
#include "workloads/memory/stage_memory.hpp"
#include "workloads/memory/stage_peak.hpp"
#include "workloads/models/blocks.hpp"
#include "workloads/models/expert_shape.hpp"
#include "workloads/programs/activation_offload.hpp"
#include "workloads/programs/operation_count.hpp"
#include "workloads/programs/stages.hpp"

namespace orrery {
namespace {

/// Keeps programs below about 5 GB.
constexpr std::int64_t kMostOperations = 50'000'000;

/// `blocks` have their steps.
std::int64_t count_all(const Experiment& experiment, const CommunicatorLayout& layout,
                       const ModelBlocks& blocks, std::span<const Stage> stages) {
  std::int64_t operations = 0;
  for_each_batch_class(experiment, [&](const Experiment& of_class) {
    for (const Stage& stage : stages) operations += count_operations(of_class, layout, blocks, stage);
  });
  return operations;
}

void check_size(const Experiment& experiment, const CommunicatorLayout& layout, const ModelBlocks& blocks,
                std::span<const Stage> stages) {
  const std::int64_t operations = count_all(experiment, layout, blocks, stages);
  if (operations <= kMostOperations) return;
  throw InputError("/plan", "programs of " + std::to_string(operations) +
                                " operations (stages x micro-batches x layers x steps), allowed are " +
                                std::to_string(kMostOperations) +
                                "; use larger micro-batches or fewer steps");
}

/// Blocks, and passes of several chunks until their activations are at their peak, can be too many to write
/// down alone.
void check_passes(const Plan& plan, const Model& model) {
  const ScheduleShape shape = schedule_shape(plan);
  const std::int64_t chunks = shape.stages * shape.chunks;
  const bool walks = shape.chunks > 1 || splits_backward(plan) != BackwardSplit::whole;
  const std::int64_t passes = walks ? micro_batches_at_peak(plan) * chunks : 0;
  if (passes <= kMostOperations && model.all_layers() <= kMostOperations) return;
  throw InputError("/plan/global_batch_size", "makes " + std::to_string(passes) +
                                                  " passes per step (micro-batches x stages), allowed are " +
                                                  std::to_string(kMostOperations));
}

}  // namespace

Workload lower(const Experiment& experiment, const GossipGraph& graph) {
  const CommunicatorLayout layout(experiment, graph);
  return write_workload(experiment, layout, outline(experiment, layout));
}

Outline outline(const Experiment& experiment, const CommunicatorLayout& layout) {
  const Plan& plan = experiment.plan;
  check_passes(plan, experiment.model);
  Outline result;
  Workload& workload = result.workload;
  result.blocks = model_family(experiment.model.kind).describe(experiment);
  offload_layers(plan, result.blocks);
  const ModelBlocks& blocks = result.blocks;
  result.stages = Stages(experiment, blocks);
  for_each_batch_class(experiment, [&](const Experiment& of_class) {
    for (const Stage& stage : result.stages.list())
      workload.stage_memory.push_back(memory_of(stage, of_class, layout, blocks));
  });
  workload.tied = blocks.tied_are_trained && blocks.tied_parameters > 0;
  workload.slots = layout.slots();
  workload.common_slots = layout.common_slots();
  workload.streams = layout.streams();
  workload.model_flops = blocks.model_flops;
  workload.hardware_flops = blocks.model_flops + blocks.recompute_flops;
  workload.parameters = parameter_count(experiment.model);
  workload.active_parameters =
      experiment.model.experts > 0 ? active_parameters(experiment.model) : workload.parameters;
  workload.samples = plan.global_batch_size;
  workload.tokens =
      plan.global_batch_size * (experiment.model.seq_length + experiment.model.encoder_seq_length);
  workload.steps = experiment.simulation.steps;
  return result;
}

void write_programs(const Experiment& experiment, const CommunicatorLayout& layout, ModelBlocks blocks,
                    std::span<const Stage> stages, Workload& workload) {
  model_family(experiment.model.kind).write_steps(experiment, blocks, workload);
  copy_steps_to_offloaded(blocks);
  check_size(experiment, layout, blocks, stages);
  ProgramParts parts(experiment, workload);
  for_each_batch_class(experiment, [&](const Experiment& of_class) {
    for (const Stage& stage : stages)
      workload.programs.push_back(write_stage_program(of_class, layout, blocks, stage, workload, parts));
  });
}

bool can_be_written(const Experiment& experiment, const CommunicatorLayout& layout, const Outline& outlined) {
  Workload workload = outlined.workload;
  ModelBlocks blocks = outlined.blocks;
  model_family(experiment.model.kind).write_steps(experiment, blocks, workload);
  copy_steps_to_offloaded(blocks);
  return count_all(experiment, layout, blocks, outlined.stages.list()) <= kMostOperations;
}

Workload write_workload(const Experiment& experiment, const CommunicatorLayout& layout,
                        const Outline& outlined) {
  Workload workload = outlined.workload;
  write_programs(experiment, layout, outlined.blocks, outlined.stages.list(), workload);
  add_communicators(layout.spec(), workload);
  return workload;
}

std::int64_t parameter_count(const Model& model) { return model_family(model.kind).parameters(model); }

std::vector<StageMemory> stage_memory(const Experiment& experiment, const GossipGraph& graph) {
  return outline(experiment, CommunicatorLayout(experiment, graph)).workload.stage_memory;
}

}  // namespace orrery
