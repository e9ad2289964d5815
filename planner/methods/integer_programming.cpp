// Stages by integer programming.
#include <algorithm>

#include "planner/methods/partition_ilp.hpp"
#include "planner/methods/partition_search.hpp"

namespace orrery {
namespace {

/// Time limit of one integer program; the best solution by then is simulated.
constexpr double kMostSeconds = 10;

}  // namespace

void search_by_integer_programming(SearchRun& run) {
  if (!has_integer_solver())
    static_cast<void>(partition_by_ilp({}, kMostSeconds));  // throws, naming the missing solver
  const double seconds = std::min(kMostSeconds, run.request().budget.seconds.value_or(kMostSeconds));
  search_partitions(run, [seconds](const PartitionProblem& problem) {
    const IlpPartition found = partition_by_ilp(problem, seconds);
    return SolvedPartition{found.partition, found.bound};
  });
}

}  // namespace orrery
