// How far figures of requests may be off: as far as they were on measured runs of the same kind, which no fit
// of the stack saw.
#pragma once

#include <string>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/serving.hpp"

namespace orrery {

/// Of each figure that was measured on the GPU of `experiment` under its stack, with experts or without as
/// its model is.
[[nodiscard]] std::vector<ServingRange> serving_ranges(const Experiment& experiment, const Serving& serving);

/// What `ranges` are, or why there are none.
[[nodiscard]] std::string ranges_sentence(const Experiment& experiment,
                                          const std::vector<ServingRange>& ranges);

}  // namespace orrery
