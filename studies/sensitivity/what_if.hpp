// Ranks the parameters that would make the step of an experiment faster: its bandwidths, latencies, peaks and
// times of kernels and of the host, by their share of the step time.
#pragma once

#include <string>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/report.hpp"

namespace orrery {

struct WhatIfs {
  std::vector<WhatIf> list;  ///< the largest share first
  std::string claim;         ///< what its figures say and what they rest on, a sentence
};

/// @param keys  of the experiment, such as cluster.fabric.nic_gbps; empty: all that its path depends on
/// @throws InputError for what is no such key, if workers keep no step with each other, and as simulate()
[[nodiscard]] WhatIfs what_if(const Experiment& experiment, const std::vector<std::string>& keys);

}  // namespace orrery
