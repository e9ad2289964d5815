// Qi et al. 2024, "Zero Bubble Pipeline Parallelism", section 2.1, ZB-H1: 1F1B whose backward passes are
// split. Each stage puts off the gradients of its weights by as many micro-batches as stages lie before it,
// so that all keep the activations of at most p micro-batches, as the first stage of 1F1B does. With T_F, T_B
// and T_W for the forward pass and the gradients of inputs and of weights, the step has a bubble of (p -
// 1)(T_F + T_B - T_W).
#include <algorithm>

#include "workloads/schedules/orders.hpp"

namespace orrery {

std::vector<Pass> split_order(std::int64_t micro_batches, std::int64_t ahead, std::int64_t put_off) {
  std::vector<Pass> order;
  order.reserve(static_cast<std::size_t>(3 * micro_batches));
  for (std::int64_t i = 0; i < micro_batches + ahead + put_off; ++i) {
    if (i < micro_batches) order.push_back(forward_pass(i));
    if (i >= ahead && i - ahead < micro_batches) order.push_back(input_gradient_pass(i - ahead));
    if (i >= ahead + put_off) order.push_back(weight_gradient_pass(i - ahead - put_off));
  }
  return order;
}

std::vector<Pass> zb_h1_order(const ScheduleShape& shape, std::int64_t stage) {
  return split_order(shape.micro_batches, shape.stages - 1 - stage, stage);
}

/// Returns the micro-batches between a forward pass and its weight gradients, p - 1 passes later.
std::int64_t zb_h1_kept(const ScheduleShape& shape, std::int64_t /*stage*/) {
  return std::min(shape.micro_batches, shape.stages);
}

}  // namespace orrery
