// A pass through a stage as few operations, for detail `stage`: what can overlap with the passes before
// and after it stands alone, the rest becomes one or two entries of Workload::passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "orrery/workload.hpp"
#include "workloads/blocks.hpp"

namespace orrery {

struct WholePass {
  static constexpr std::uint32_t kNone = 0xffffffff;
  std::vector<Step> first;             ///< collectives it begins with, one after the other
  std::size_t first_before_start = 0;  ///< so many of them come before `start`; another one runs beside it
  std::uint32_t start = kNone;         ///< of Workload::passes: compute before the collectives in it
  std::uint32_t body = kNone;          ///< of Workload::passes: up to the end of the last collective in it
  std::uint32_t rest = kNone;          ///< of Workload::passes: the compute after that
  std::vector<Step> last;              ///< collectives it ends with, one after the other
};

/// @param steps  all of the pass, in issue order; Step::after counts in this list
[[nodiscard]] WholePass add_whole_pass(std::vector<Step> steps, Workload& workload);

}  // namespace orrery
