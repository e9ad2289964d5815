// Runs a sweep on the workers of a Dask cluster, which the Python module `orrery` speaks to.
#pragma once

#include <string>
#include <vector>

#include "planner/space/space.hpp"

namespace orrery {

struct FarSweep {
  std::string scheduler;                  ///< its address, such as tcp://10.0.0.1:8786
  std::string file;                       ///< of results
  std::vector<std::string> keys;          ///< of the result to keep
  std::vector<std::string> calibrations;  ///< files, which the workers have under the same path
};

/// Runs `python3 -m orrery.many_machines` and waits for it; its messages go to standard error.
/// @throws RunError if it cannot be run or fails.
void sweep_far(const Space& space, const FarSweep& sweep);

}  // namespace orrery
