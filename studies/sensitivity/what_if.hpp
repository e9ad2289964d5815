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
  std::string claim;         ///< the conclusion from its figures and their assumptions, a sentence
};

/// @param keys  of the experiment, such as cluster.fabric.nic_gbps; empty: all that its path depends on
/// @throws InputError for a wrong key, if workers are asynchronous, and as simulate()
[[nodiscard]] WhatIfs what_if(const Experiment& experiment, const std::vector<std::string>& keys);

}  // namespace orrery
