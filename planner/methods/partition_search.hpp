// Holds the parts that dynamic and integer programming share as search methods. Internal to planner/methods/.
#pragma once

#include <functional>

#include "planner/methods/partition.hpp"
#include "planner/methods/search_run.hpp"

namespace orrery {

/// Holds the cheapest partition that was found, empty if there is none, and a lower bound of all, in ps.
struct SolvedPartition {
  Partition partition;
  double bound = 0;
};
using PartitionSolver = std::function<SolvedPartition(const PartitionProblem&)>;

/// Solves, for each combination of values of the other keys, layers of the stages (where plan.stage_layers is
/// a key of the space), the recomputation of each (plan.recompute) and the order of groups of unlike GPUs
/// (cluster.groups); then these points are simulated, the cheapest first. Points whose stages cannot be
/// priced one by one are simulated as the space has them.
/// @throws InputError if the space has none of these keys
void search_partitions(SearchRun& run, const PartitionSolver& solver);

}  // namespace orrery
