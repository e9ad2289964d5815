#include <algorithm>
#include <string>

#include "workloads/schedules/orders.hpp"

namespace orrery {
namespace {

/// Each stage runs a forward pass less than the one before it, the last one those ahead.
std::int64_t one_f_one_b_warm_up(const ScheduleShape& shape, std::int64_t stage) {
  const std::int64_t first = shape.warm_up > 0 ? shape.warm_up : shape.stages - 1;
  return std::clamp<std::int64_t>(first - stage + shape.ahead, 0, shape.micro_batches);
}

}  // namespace

std::vector<Pass> one_f_one_b_order(const ScheduleShape& shape, std::int64_t stage) {
  const std::int64_t m = shape.micro_batches;
  const std::int64_t warmup = one_f_one_b_warm_up(shape, stage);
  std::vector<Pass> order;
  order.reserve(static_cast<std::size_t>(2 * m));
  for (std::int64_t i = 0; i < warmup; ++i) order.push_back(forward_pass(i));
  for (std::int64_t i = warmup; i < m; ++i) {
    order.push_back(forward_pass(i));
    order.push_back(backward_pass_beside(i - warmup));
  }
  for (std::int64_t i = m - warmup; i < m; ++i) order.push_back(backward_pass(i));
  return order;
}

/// Returns the micro-batches kept: those of the warm-up and that of the forward pass after it.
std::int64_t one_f_one_b_kept(const ScheduleShape& shape, std::int64_t stage) {
  return std::min(shape.micro_batches, one_f_one_b_warm_up(shape, stage) + 1);
}

std::optional<ScheduleObstacle> one_f_one_b_obstacle(const ScheduleShape& shape) {
  if (shape.warm_up <= shape.micro_batches) return {};
  return ScheduleObstacle{"warmup_micro_batches", std::to_string(shape.warm_up),
                          "at most the " + std::to_string(shape.micro_batches) + " micro-batches"};
}

}  // namespace orrery
