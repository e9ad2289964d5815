// Solves the same partition as an integer program, by CBC (Forrest and Lougee-Heimer 2005).
#pragma once

#include "planner/methods/partition.hpp"

namespace orrery {

struct IlpPartition {
  Partition partition;  ///< the best that was found; empty: none was
  double bound = 0;     ///< no partition costs less, in ps
  bool optimal =
      false;  ///< it is proven that none is cheaper, to the solver's tolerance of 10^-9, or that none is
};

/// Returns true if this program was built with CBC.
[[nodiscard]] bool has_integer_solver();

/// Every stage with a run of layers on a kind of GPU is a binary variable, where it has room; the slowest
/// stage and the longest reduction are variables no less than those of the stages that are taken. Runs follow
/// each other, and as many stages as there are lie on each kind of GPU. Stages with which
/// a partition is sure to cost more than balanced_partition(), from which the search starts, are left out.
/// @param seconds  after which the best found so far is returned, with its bound
/// @throws InputError where has_integer_solver() is false
[[nodiscard]] IlpPartition partition_by_ilp(const PartitionProblem& problem, double seconds);

}  // namespace orrery
