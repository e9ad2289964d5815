// Shares samples out among replicas of unequal speed where a plan leaves that to the simulator
// (`replica_batch_sizes: auto`).
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/experiment.hpp"
#include "sim/step/memo.hpp"

namespace orrery {

/// So many micro-batches for each, one at least, that the last to finish is as early as possible if replica i
/// takes times[i] for each of its own; of equally good ways the one that gives the first replicas most.
/// Requires as many micro-batches as replicas at least.
[[nodiscard]] std::vector<std::int64_t> share_micro_batches(std::int64_t micro_batches,
                                                            const std::vector<Picoseconds>& times);

/// Samples of each replica, by what its slowest pipeline rank takes for a micro-batch. Requires that layers
/// of stages are chosen.
[[nodiscard]] std::vector<std::int64_t> balanced_replica_batches(const Experiment& experiment, Memo& memo);

}  // namespace orrery
