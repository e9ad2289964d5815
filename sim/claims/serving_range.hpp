// Computes how far figures of requests may be off: as far as they were on measured runs of the same kind that
// no fit of the stack saw.
#pragma once

#include <string>
#include <vector>

#include "orrery/experiment.hpp"
#include "orrery/serving.hpp"

namespace orrery {

/// Returns a range for each figure that was measured on the GPU of `experiment` under its stack, for models
/// with or without experts as its own.
[[nodiscard]] std::vector<ServingRange> serving_ranges(const Experiment& experiment, const Serving& serving);

/// Returns a sentence that explains `ranges`, or why there are none.
[[nodiscard]] std::string ranges_sentence(const Experiment& experiment,
                                          const std::vector<ServingRange>& ranges);

}  // namespace orrery
