// Qi et al. 2024, "Zero Bubble Pipeline Parallelism", section 2.2, ZB-H2: as ZB-H1 with twice the distances.
// The warm-up of stage s is 2 (p - 1 - s) forward passes, so that its first gradients arrive when it has run
// out of them, and it puts off the gradients of weights by 2 s micro-batches. Each stage keeps the
// activations of at most 2p - 1 micro-batches. From its own first pass to its own last one, the first stage
// idles (p - 1)(T_F + T_B - 2 T_W); the last stage begins and ends (p - 1) T_F later, which only the next
// step hides.
#include <algorithm>

#include "workloads/schedules/orders.hpp"

namespace orrery {

std::vector<Pass> zb_h2_order(const ScheduleShape& shape, std::int64_t stage) {
  return split_order(shape.micro_batches, 2 * (shape.stages - 1 - stage), 2 * stage);
}

/// Returns the micro-batches between a forward pass and its weight gradients, 2p - 2 passes later.
std::int64_t zb_h2_kept(const ScheduleShape& shape, std::int64_t /*stage*/) {
  return std::min(shape.micro_batches, 2 * shape.stages - 1);
}

}  // namespace orrery
