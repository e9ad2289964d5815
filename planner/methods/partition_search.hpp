// Holds the parts that dynamic and integer programming share as search methods. Internal to planner/methods/.
#pragma once

#include <functional>

#include "planner/methods/partition.hpp"
#include "planner/methods/search_run.hpp"

namespace orrery {

/// The cheapest partition that was found, empty where there is none, and what none costs less than, in ps.
struct SolvedPartition {
  Partition partition;
  double bound = 0;
};
using PartitionSolver = std::function<SolvedPartition(const PartitionProblem&)>;

/// For each combination of values of the other keys, layers of the stages (where plan.stage_layers is a key
/// of the space), what each computes again (plan.recompute) and the order of groups of unlike GPUs
/// (cluster.groups) are those of the solver; then these points are simulated, the cheapest first. Points
/// whose stages cannot be priced one by one are simulated as the space has them.
/// @throws InputError where the space has none of these keys
void search_partitions(SearchRun& run, const PartitionSolver& solver);

}  // namespace orrery
