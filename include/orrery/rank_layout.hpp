// Where each rank stands in the parallel dimensions of a plan. Used by workloads/ to form
// communicators and by reports to name ranks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "orrery/plan.hpp"

namespace orrery {

struct RankCoordinates {
  std::int64_t tensor = 0, pipeline = 0, data = 0;
};

/// Maps ranks to coordinates and back for a plan's rank_order, whose first dimension is innermost.
class RankLayout {
 public:
  explicit RankLayout(const Plan& plan)
      : size_{plan.tensor_parallel, plan.pipeline_parallel, plan.data_parallel} {
    constexpr std::array<std::string_view, 3> kNames{"tp", "pp", "dp"};
    std::int64_t stride = 1;
    for (std::string_view rest = plan.rank_order; !rest.empty();) {
      const std::string_view name = rest.substr(0, rest.find('-'));
      rest.remove_prefix(name.size() == rest.size() ? name.size() : name.size() + 1);
      for (std::size_t d = 0; d < kNames.size(); ++d) {
        if (name != kNames[d]) continue;
        stride_[d] = stride;
        stride *= size_[d];
      }
    }
  }

  [[nodiscard]] RankCoordinates coordinates(std::uint32_t rank) const {
    const auto along = [&](std::size_t d) { return static_cast<std::int64_t>(rank) / stride_[d] % size_[d]; };
    return {along(0), along(1), along(2)};
  }

  /// Ranks from the first to the last of a tensor group, in blocks that do not overlap.
  [[nodiscard]] std::int64_t tensor_span() const { return stride_[0] * size_[0]; }

  [[nodiscard]] std::uint32_t rank(const RankCoordinates& at) const {
    return static_cast<std::uint32_t>(at.tensor * stride_[0] + at.pipeline * stride_[1] +
                                      at.data * stride_[2]);
  }

 private:
  std::array<std::int64_t, 3> size_;  ///< tensor, pipeline, data
  std::array<std::int64_t, 3> stride_{1, 1, 1};
};

}  // namespace orrery
