#include <algorithm>

#include "workloads/schedules/orders.hpp"

namespace orrery {

std::vector<Pass> one_f_one_b_order(const ScheduleShape& shape, std::int64_t stage) {
  const std::int64_t m = shape.micro_batches;
  const std::int64_t warmup = std::min(shape.stages - 1 - stage, m);
  std::vector<Pass> order;
  order.reserve(static_cast<std::size_t>(2 * m));
  for (std::int64_t i = 0; i < warmup; ++i) order.push_back(forward_pass(i));
  for (std::int64_t i = warmup; i < m; ++i) {
    order.push_back(forward_pass(i));
    order.push_back(backward_pass(i - warmup));
  }
  for (std::int64_t i = m - warmup; i < m; ++i) order.push_back(backward_pass(i));
  return order;
}

/// Those of the warm-up, and of the forward pass after it.
std::int64_t one_f_one_b_kept(const ScheduleShape& shape, std::int64_t stage) {
  return std::min(shape.micro_batches, shape.stages - stage);
}

}  // namespace orrery
