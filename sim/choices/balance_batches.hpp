// Shares samples out among replicas of unequal speed where a plan leaves that to the simulator
// (`replica_batch_sizes: auto`).
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/experiment.hpp"
#include "sim/step/memo.hpp"

namespace orrery {

/// Returns the number of micro-batches for each replica, at least one, so that the last replica finishes as
/// early as possible if replica i takes times[i] for each of its own. Of equally good answers it returns the
/// one that gives the first replicas most. Requires at least as many micro-batches as replicas.
[[nodiscard]] std::vector<std::int64_t> share_micro_batches(std::int64_t micro_batches,
                                                            const std::vector<Picoseconds>& times);

/// Returns the samples of each replica, balanced by the time of its slowest pipeline rank for a micro-batch.
/// Requires that layers of stages are chosen.
[[nodiscard]] std::vector<std::int64_t> balanced_replica_batches(const Experiment& experiment, Memo& memo);

}  // namespace orrery
