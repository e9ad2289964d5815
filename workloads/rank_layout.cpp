#include <algorithm>
#include <string_view>

#include "orrery/workload.hpp"

namespace orrery {

RankLayout::RankLayout(const Plan& plan)
    : size_{plan.tensor_parallel, plan.pipeline_parallel, plan.data_parallel}, stride_{1, 1, 1} {
  constexpr std::string_view kNames[3] = {"tp", "pp", "dp"};
  std::int64_t stride = 1;
  std::string_view order = plan.rank_order;
  while (!order.empty()) {
    const std::string_view name = order.substr(0, order.find('-'));
    order.remove_prefix(std::min(order.size(), name.size() + 1));
    for (std::size_t d = 0; d < 3; ++d) {
      if (name != kNames[d]) continue;
      stride_[d] = stride;
      stride *= size_[d];
    }
  }
}

RankCoordinates RankLayout::coordinates(std::uint32_t rank) const {
  const auto along = [&](std::size_t d) { return static_cast<std::int64_t>(rank) / stride_[d] % size_[d]; };
  return {along(0), along(1), along(2)};
}

std::uint32_t RankLayout::rank(const RankCoordinates& at) const {
  return static_cast<std::uint32_t>(at.tensor * stride_[0] + at.pipeline * stride_[1] + at.data * stride_[2]);
}

}  // namespace orrery
