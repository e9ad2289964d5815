// Expands programs to tasks: the last step before the engine. Edges of tasks are made once and shared by all
// runs of programs of one structure whose ranks fold alike; costs of tasks are set for each run.
#pragma once

#include "orrery/topology.hpp"
#include "orrery/workload.hpp"
#include "sim/cost/price_list.hpp"
#include "sim/matching/task_groups.hpp"
#include "sim/symmetry/class_positions.hpp"
#include "sim/symmetry/fold.hpp"
#include "sim/tasks/expanded_graph.hpp"

namespace orrery {

class Interference;

/// Returns the task structure of one representative per rank class; costs and multiplicities are set later.
/// @throws InputError if the graph would not fit into memory.
[[nodiscard]] ExpandedGraph expand(const Workload& workload, const Channels& channels,
                                   const TaskGroups& task_groups, const ClassPositions& positions);

/// Sets the cost of tasks and how long after the host they start. Transfers that use shared links of `folded`
/// keep their legs, with classes of links (Folded::links) as links; each of the others is a fixed duration.
/// Kernels of uneven ranks, and those slowed by communication beside them, have costs of their own.
/// @param expanded  with Representatives set
void set_costs(const Workload& workload, const Channels& channels, const PriceList& prices,
               const Folded& folded, Interference& interference, ExpandedGraph& expanded);

}  // namespace orrery
