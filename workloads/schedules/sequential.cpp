#include "workloads/schedules/orders.hpp"

namespace orrery {

std::vector<Pass> sequential_order(const ScheduleShape& shape, std::int64_t /*stage*/) {
  std::vector<Pass> order;
  for (std::int64_t i = 0; i < shape.micro_batches; ++i) {
    order.push_back(forward_pass(i));
    order.push_back(backward_pass(i));
  }
  return order;
}

std::int64_t sequential_kept(const ScheduleShape& /*shape*/, std::int64_t /*stage*/) { return 1; }

}  // namespace orrery
