// Computes the times of the iterations of a serving replica: the steps of workloads/inference/ at the prices
// of sim/cost/, on the topology of the cluster. Costs that depend only on the number of tokens are computed
// once for each number.
#pragma once

#include <memory>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/inference.hpp"
#include "sim/run/replica_kinds.hpp"
#include "sim/serving/iteration.hpp"
#include "sim/step/memo.hpp"
#include "sim/step/prepared_experiment.hpp"

namespace orrery {

/// By kind of replica. Keeps references to `prepared` and `inference`.
/// @throws InputError where serving_obstacle() finds something, or a collective cannot be done
[[nodiscard]] std::vector<std::unique_ptr<IterationCost>> iteration_costs(
    const PreparedExperiment& prepared, const Inference& inference, const std::vector<ReplicaKind>& kinds,
    Memo& memo);

/// Returns the memory of the stage of a kind of replica whose GPUs have room for fewest tokens beside their
/// weights. `usable` is Inference::cache_share of the memory that the smallest GPU of the stage gives a
/// process; 0 if the memory of all stages is unknown.
/// @param tokens  of the largest iteration
/// @throws InputError as iteration_costs()
[[nodiscard]] ServingMemory serving_memory(const Experiment& experiment, const Inference& inference,
                                           const ReplicaKind& kind, std::int64_t tokens);

}  // namespace orrery
