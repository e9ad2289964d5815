// The way from an experiment to programs: the one entrance to workloads/.
#pragma once

#include "orrery/experiment.hpp"
#include "orrery/gossip_graph.hpp"
#include "orrery/workload.hpp"

namespace orrery {

/// Programs of all pipeline stages, communicators of all ranks, memory and FLOPs.
/// `experiment` must be valid (see sim/io/).
/// @throws InputError if the programs would not fit into memory.
/// `graph`: whom replicas gossip with, over sync_workers(); empty where the method has none.
[[nodiscard]] Workload lower(const Experiment& experiment, const GossipGraph& graph = {});

/// Parameters of the whole model; tied embeddings count once.
[[nodiscard]] std::int64_t parameter_count(const Model& model);

/// FLOPs of one step over all GPUs.
struct StepFlops {
  TotalFlops model = 0;     ///< recomputation left out
  TotalFlops hardware = 0;  ///< recomputation counted
};
[[nodiscard]] StepFlops step_flops(const Experiment& experiment);

/// Memory per pipeline stage alone, without programs.
[[nodiscard]] std::vector<StageMemory> stage_memory(const Experiment& experiment,
                                                    const GossipGraph& graph = {});

}  // namespace orrery
