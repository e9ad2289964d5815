#include "sim/cost/issue_time.hpp"

#include <algorithm>

namespace orrery {

Picoseconds earliest_start(const KernelSequence& work, Picoseconds duration, Picoseconds issued) {
  const auto kernels = static_cast<Picoseconds>(std::max<std::size_t>(work.kernels.size(), 1));
  const Picoseconds first = capped_sum(issued, work.host_ps / kernels);
  const Picoseconds last = capped_sum(issued, work.host_ps) - duration / kernels * (kernels - 1);
  return std::max(first, last);
}

}  // namespace orrery
