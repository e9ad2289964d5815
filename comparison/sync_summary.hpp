// How the replicas of an experiment are kept in step, as the table says it. Internal to comparison/.
#pragma once

#include "comparison/compare.hpp"
#include "orrery/experiment.hpp"

namespace orrery {

[[nodiscard]] SyncSummary summary_of(const Experiment& experiment);

/// Replicas that begin in the first node, at least 1.
[[nodiscard]] std::int64_t replicas_per_node(const Experiment& experiment);

/// Replicas that make up one worker: those of a node where nodes are the workers, else 1.
[[nodiscard]] std::int64_t replicas_per_worker(const Experiment& experiment);

}  // namespace orrery
