// Says in a sentence why two steps take different times, the largest cause first.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/step_difference.hpp"

namespace orrery {

/// Holds one cause of a difference: a term of the mean step, compute by class of kernel where that is known.
struct Cause {
  std::string name;         ///< in words: "exposed dispatch and combine"
  Picoseconds more_ps = 0;  ///< second less first
};

/// Returns a term of `breakdown_s` or `kernels_s` in words.
[[nodiscard]] std::string_view words_of(std::string_view term);

/// Returns the causes, those that pull with the difference first, the largest first. They add up to the
/// difference to the picosecond.
[[nodiscard]] std::vector<Cause> causes_of(const StepDifference& difference);

/// "62 % of the difference in unfused permutation, 30 % in host issue, 8 % in 3 others". Causes that pull the
/// other way count below zero, so shares add up to 100 %. "" where steps take equally long.
[[nodiscard]] std::string cause_sentence(const StepDifference& difference);

}  // namespace orrery
