// Times of the iterations of a serving replica: the steps of workloads/inference/ at the prices of sim/cost/,
// on the topology of the cluster. What depends on the number of tokens alone is priced once for each number.
#pragma once

#include <memory>

#include "orrery/experiment.hpp"
#include "orrery/inference.hpp"
#include "sim/run/memo.hpp"
#include "sim/serving/iteration.hpp"

namespace orrery {

/// Of a replica of the plan; all are alike. Keeps references to experiment and inference.
/// @throws InputError where serving_obstacle() finds something, or a collective cannot be done
[[nodiscard]] std::unique_ptr<IterationCost> iteration_cost(const Experiment& experiment,
                                                            const Inference& inference, Memo& memo);

/// On the stage whose GPUs have room for fewest tokens beside their weights. `usable` is
/// Inference::cache_share of what the smallest GPU gives a process; 0 where its memory is unknown.
/// @param tokens  of the largest iteration
/// @throws InputError as iteration_cost()
[[nodiscard]] ServingMemory serving_memory(const Experiment& experiment, const Inference& inference,
                                           std::int64_t tokens);

}  // namespace orrery
