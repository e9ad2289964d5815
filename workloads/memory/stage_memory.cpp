#include "workloads/memory/stage_memory.hpp"

#include <algorithm>

#include "workloads/memory/stage_peak.hpp"
#include "workloads/programs/activation_offload.hpp"
#include "workloads/programs/fsdp_shards.hpp"
#include "workloads/programs/fsdp_units.hpp"
#include "workloads/sync/compressor.hpp"
#include "workloads/sync/sync_method.hpp"
#include "workloads/weights/muon.hpp"
#include "workloads/weights/optimizer_states.hpp"

namespace orrery {
namespace {

/// Sharded gradients are whole until they are reduced: with ZeRO-2 a bucket of them, or a block if that has
/// more. Where they are added up first, they are whole anyway.
std::int64_t bucket_of_gradients(const Stage& stage, const Plan& plan) {
  if (!plan.reduces_every_micro_batch()) return 0;
  const std::int64_t bucket = bucket_elements(plan) > 0 ? bucket_elements(plan) : stage.trained();
  return std::min(stage.trained(), std::max(bucket, most_in_unit(stage, 1, &PlacedBlock::trained)));
}

/// Where ZeRO-3 keeps gathered parameters from the forward to the backward pass.
std::int64_t kept_parameters(const Stage& stage, const Plan& plan) {
  std::int64_t sum = 0;
  for (const Chunk& chunk : stage.chunks)
    sum += plan.reshard_after_forward ? 0 : sum_over(chunk, {0, chunk.blocks.size()}, &PlacedBlock::used);
  return sum;
}

/// One of each shape in the stage.
Bytes kept_weight_gradients(const Stage& stage, const ModelBlocks& blocks) {
  std::array<Bytes, 4> most{};
  for (const Chunk& chunk : stage.chunks) {
    for (const PlacedBlock& block : chunk.blocks) {
      const auto& own = blocks.kinds[block.kind].weight_gradients;
      for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], own[i]);
    }
  }
  return most[0] + most[1] + most[2] + most[3];
}

/// Adds the states that the method keeps between steps, and the residuals of compressors.
void add_sync_memory(const DataParallelSync& sync, const CommunicatorLayout& layout, std::int64_t trained,
                     StageMemory& memory) {
  constexpr Bytes kModel = 4;
  const Bytes states =
      sync_method(sync.method).state_bytes + Compressor(sync.compression).state_bytes_per_value();
  const std::int64_t held = layout.shards_in_worker()
                                ? divide_up(trained, std::int64_t{layout.workers().replicas_per_worker})
                                : trained;
  memory.optimizer_states += states * held;
  std::uint32_t neighbours = sync_method(sync.method).meets == Meets::in_pairs ? 1 : 0;
  for (const CommunicatorLayout::Round& round : layout.rounds())
    neighbours = std::max(neighbours, round.in_degree);
  memory.workspace.neighbours = kModel * sync_method(sync.method).vectors * neighbours * held;
}

/// Returns the bytes of optimizer states on the GPU, without offloaded ones. Experts are sharded over the
/// ranks that hold the same ones.
Bytes optimizer_memory(const Stage& stage, const Plan& plan, Bytes (*bytes)(const Plan&, std::int64_t)) {
  const auto of = [&](std::int64_t trained, std::int64_t ranks) {
    const std::int64_t owned = divide_up(trained, ranks);
    const std::int64_t offloaded = offloaded_parameters(plan, owned);
    return offloaded == 0 ? divide_up(bytes(plan, trained), ranks) : bytes(plan, owned - offloaded);
  };
  const std::int64_t experts = stage.experts();
  if (plan.zero_stage < 1) return of(stage.trained(), 1);
  return of(stage.trained() - experts, plan.sharding_ranks()) +
         (experts > 0 ? of(experts, plan.expert_copies()) : 0);
}

/// Returns the parameters that the GPU updates itself.
std::int64_t updated_parameters(const Stage& stage, const Plan& plan) {
  const std::int64_t experts = stage.experts();
  const auto owned = [&](std::int64_t trained, std::int64_t ranks) {
    return plan.zero_stage < 1 ? trained : divide_up(trained, ranks);
  };
  const std::int64_t all =
      owned(stage.trained() - experts, plan.sharding_ranks()) + owned(experts, plan.expert_copies());
  return all - offloaded_parameters(plan, all);
}

void add_states(const Stage& stage, const Experiment& experiment, const ModelBlocks& blocks,
                StageMemory& memory) {
  constexpr int kNever = 4;
  const Plan& plan = experiment.plan;
  // Experts are shared out among the ranks that hold the same ones.
  const std::int64_t experts = stage.experts();
  const auto sharded = [&](std::int64_t parameters, Bytes each, int from_stage) {
    if (plan.zero_stage < from_stage) return parameters * each;
    const Bytes of_experts = experts > 0 ? divide_up(experts * each, plan.expert_copies()) : 0;
    return divide_up((parameters - experts) * each, plan.sharding_ranks()) + of_experts;
  };
  const std::int64_t trained = stage.trained();
  memory.parameters_count = stage.parameters();
  const std::int64_t cast = shards_main_weights_alone(experiment) ? trained - experts : 0;
  memory.parameters =
      sharded(memory.parameters_count - stage.narrow() - cast, element_bytes(plan.precision), 3) +
      frozen_bytes(plan.frozen_precision, stage.narrow());
  const int gradients_from = plan.reduces_every_micro_batch() ? 2 : kNever;
  memory.gradients = sharded(trained, held_gradient_bytes(experiment), gradients_from);
  memory.main_weights = optimizer_memory(stage, plan, main_weight_bytes);
  memory.optimizer_states = optimizer_memory(stage, plan, optimizer_state_bytes) - memory.main_weights +
                            second_moments_beside_muon(plan, stage, blocks);
}

/// Adds what is held at the fullest moment: of a pass, or of the update, at which all gradients are there.
void add_peak(const Stage& stage, const Experiment& experiment, const ModelBlocks& blocks, Bytes arriving,
              StageMemory& memory) {
  const Plan& plan = experiment.plan;
  const StagePeak peak = find_peak(stage, blocks, plan);
  const Bytes in_update = update_memory(experiment, updated_parameters(stage, plan));
  const Bytes in_pass = peak.activations.total() + peak.workspace.total() + peak.arrived - arriving;
  if (in_update > std::max<Bytes>(0, in_pass)) {
    memory.workspace.update = in_update;
    memory.moment = {PeakMoment::Pass::update, static_cast<std::int32_t>(plan.micro_batches() - 1)};
    return;
  }
  memory.gradients += peak.arrived - arriving;
  memory.activations = peak.activations;
  memory.workspace += peak.workspace;
  memory.moment = peak.moment;
}

Bytes in_bytes(double bytes) { return static_cast<Bytes>(bytes + 0.5); }

/// A GPU has one along each dimension on which it has partners.
std::int64_t communicators(const Plan& plan) {
  std::int64_t count = plan.weight_copies() > 1 ? 1 : 0;
  for (const std::int64_t ranks :
       {plan.tensor_parallel, plan.context_parallel, plan.pipeline_parallel, plan.expert_parallel})
    count += ranks > 1 ? 1 : 0;
  return count;
}

Bytes outside_allocator(const Experiment& experiment) {
  const Software& software = experiment.software;
  return in_bytes(software.context_gb * 1e9) +
         communicators(experiment.plan) * in_bytes(software.communicator_mb * 1e6);
}

}  // namespace

StageMemory memory_of(const Stage& stage, const Experiment& experiment, const CommunicatorLayout& layout,
                      const ModelBlocks& blocks) {
  const Plan& plan = experiment.plan;
  StageMemory memory;
  add_states(stage, experiment, blocks, memory);
  if (plan.data_parallel > 1) add_sync_memory(experiment.data_parallel_sync, layout, stage.trained(), memory);
  memory.workspace.weight_gradients = kept_weight_gradients(stage, blocks);
  memory.workspace.offload_buffers = offload_buffers(stage);
  memory.workspace.framework = in_bytes(experiment.software.framework_gb * 1e9);
  if (plan.sharding_ranks() > 1 && plan.zero_stage >= 2) {
    const Bytes element = element_bytes(plan.precision);
    if (plan.zero_stage == 2) memory.workspace.gradient_buckets = bucket_of_gradients(stage, plan) * element;
    if (plan.zero_stage == 3) memory.workspace.gathered_parameters = kept_parameters(stage, plan) * element;
  }
  Bytes arriving = 0;
  for (const Chunk& chunk : stage.chunks) arriving += chunk.arriving;
  memory.standing = memory.total() - arriving;
  add_peak(stage, experiment, blocks, arriving, memory);
  memory.fragmentation =
      in_bytes(experiment.software.allocator_overhead * static_cast<double>(memory.total()));
  memory.outside = outside_allocator(experiment);
  return memory;
}

}  // namespace orrery
