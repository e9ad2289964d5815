// Stages by dynamic programming.
#include "planner/methods/partition_search.hpp"

namespace orrery {

void search_by_dynamic_programming(SearchRun& run) {
  search_partitions(run, [](const PartitionProblem& problem) {
    const Partition partition = partition_by_dp(problem);
    return SolvedPartition{partition, static_cast<double>(cost_of(problem, partition))};
  });
}

}  // namespace orrery
