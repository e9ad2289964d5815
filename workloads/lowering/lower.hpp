// Lowers an experiment to programs: the one entrance to workloads/.
#pragma once

#include <span>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/gossip_graph.hpp"
#include "orrery/workload.hpp"
#include "workloads/communicators/communicator_layout.hpp"
#include "workloads/models/blocks.hpp"
#include "workloads/programs/stages.hpp"

namespace orrery {

/// Writes programs of all pipeline stages, communicators of all ranks, memory and FLOPs. `experiment` must be
/// valid (see config/).
/// @throws InputError if the programs would not fit into memory.
/// `graph`: the gossip graph of the replicas, over sync_workers(); empty if the method has none.
[[nodiscard]] Workload lower(const Experiment& experiment, const GossipGraph& graph = {});

/// Holds the results that programs are written from: the blocks of the model, the stages and their memory.
struct Outline {
  ModelBlocks blocks;  ///< without steps
  Stages stages;
  Workload workload;  ///< without programs and communicators
};

/// `layout` is that of the graph.
[[nodiscard]] Outline outline(const Experiment& experiment, const CommunicatorLayout& layout);

/// Programs of `stages`, for each class of replicas (BatchClasses), of an experiment that may differ from the
/// one outlined in its micro-batches, and the work, messages and passes they need. `blocks`: as outlined.
/// @throws InputError if the programs would not fit into memory.
void write_programs(const Experiment& experiment, const CommunicatorLayout& layout, ModelBlocks blocks,
                    std::span<const Stage> stages, Workload& workload);

/// Returns true if the programs of all stages would fit into memory.
[[nodiscard]] bool can_be_written(const Experiment& experiment, const CommunicatorLayout& layout,
                                  const Outline& outlined);

/// Writes the programs of all stages and the communicators of an outline. `experiment` may differ from the
/// outlined one in its micro-batches.
/// @throws as write_programs().
[[nodiscard]] Workload write_workload(const Experiment& experiment, const CommunicatorLayout& layout,
                                      const Outline& outlined);

/// Returns a copy of `experiment` with `micro_batches` micro-batches in a step.
[[nodiscard]] inline Experiment with_micro_batches(const Experiment& experiment, std::int64_t micro_batches) {
  Experiment other = experiment;
  other.plan.global_batch_size =
      micro_batches * experiment.plan.micro_batch_size * experiment.plan.data_parallel;
  return other;
}

/// Parameters of the whole model; tied embeddings count once.
[[nodiscard]] std::int64_t parameter_count(const Model& model);

/// Memory per pipeline stage alone, without programs.
[[nodiscard]] std::vector<StageMemory> stage_memory(const Experiment& experiment,
                                                    const GossipGraph& graph = {});

}  // namespace orrery
