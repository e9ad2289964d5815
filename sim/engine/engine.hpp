// Runs a task graph: gives every task its start and finish. Knows tasks, links and time; nothing of
// layers, pipelines or GPUs.
//
// Both functions give the same times to the bit when no transfer shares an overloaded link. Both
// throw DeadlockError when a cycle keeps tasks from starting, std::overflow_error when a finish lies
// beyond kTimeLimit, and std::invalid_argument for a negative duration.
#pragma once

#include "orrery/task_graph.hpp"
#include "sim/network/network_model.hpp"

namespace orrery {

/// Every task starts at the latest finish of its predecessors and takes its cost's duration_ps. One
/// sweep over the arrays when each predecessor's id is lower than the task's, else in any order that
/// respects the edges, at several times the cost.
/// @param room  a timeline whose memory is used again
[[nodiscard]] Timeline run_contention_free(const TaskGraph& graph, Timeline room = {});

/// Legs of transfers meet in `network`, which is reset first and whose links are those of
/// graph.uses. Tasks without legs are settled as soon as their predecessors are known; only flows
/// wait for their turn in time. Flows that start or end at one time are applied together, so the
/// times depend on the graph alone and not on how equal times are ordered.
[[nodiscard]] Timeline run(const TaskGraph& graph, NetworkModel& network);

}  // namespace orrery
