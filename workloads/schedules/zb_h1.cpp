// Qi et al. 2024, "Zero Bubble Pipeline Parallelism", section 2.1, ZB-H1: 1F1B whose backward passes are
// split. Each stage puts off the gradients of its weights by as many micro-batches as stages lie before it,
// so that all keep the activations of at most p micro-batches, as the first stage of 1F1B does. With T_F, T_B
// and T_W for the forward pass and the gradients of inputs and of weights, the step has a bubble of (p -
// 1)(T_F + T_B - T_W).
#include <algorithm>

#include "workloads/schedules/orders.hpp"

namespace orrery {

std::vector<Pass> zb_h1_order(const ScheduleShape& shape, std::int64_t stage) {
  const std::int64_t m = shape.micro_batches;
  const std::int64_t ahead = shape.stages - 1 - stage;  // forward passes before the first backward pass
  std::vector<Pass> order;
  order.reserve(static_cast<std::size_t>(3 * m));
  for (std::int64_t i = 0; i < m + ahead + stage; ++i) {
    if (i < m) order.push_back(forward_pass(i));
    if (i >= ahead && i - ahead < m) order.push_back(input_gradient_pass(i - ahead));
    if (i >= ahead + stage) order.push_back(weight_gradient_pass(i - ahead - stage));
  }
  return order;
}

/// Those between a forward pass and the gradients of the weights, p - 1 passes later.
std::int64_t zb_h1_kept(const ScheduleShape& shape, std::int64_t /*stage*/) {
  return std::min(shape.micro_batches, shape.stages);
}

}  // namespace orrery
