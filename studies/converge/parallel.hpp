// Runs workers side by side. The work for one reads shared data and writes its own, so results do not depend
// on the number of threads. Inside studies/converge/.
#pragma once

#include <Eigen/Core>

#include "orrery/parallel.hpp"

namespace orrery {

/// Calls `work(i)` for every i below `count`. `work` throws nothing.
template <class Work>
void for_each_worker(Eigen::Index count, unsigned threads, const Work& work) {
  for_each_index(static_cast<std::size_t>(count), threads,
                 [&work](std::size_t i) { work(static_cast<Eigen::Index>(i)); });
}

}  // namespace orrery
