// The orders behind the rows of `pipeline_schedules()`; each has a file of its own.
#pragma once

#include "workloads/schedules/schedules.hpp"

namespace orrery {

std::vector<Pass> sequential_order(const ScheduleShape& shape, std::int64_t stage);
std::vector<Pass> gpipe_order(const ScheduleShape& shape, std::int64_t stage);
std::vector<Pass> one_f_one_b_order(const ScheduleShape& shape, std::int64_t stage);
std::vector<Pass> interleaved_order(const ScheduleShape& shape, std::int64_t stage);
std::vector<Pass> zb_h1_order(const ScheduleShape& shape, std::int64_t stage);

std::int64_t sequential_kept(const ScheduleShape& shape, std::int64_t stage);
std::int64_t gpipe_kept(const ScheduleShape& shape, std::int64_t stage);
std::int64_t one_f_one_b_kept(const ScheduleShape& shape, std::int64_t stage);
std::int64_t zb_h1_kept(const ScheduleShape& shape, std::int64_t stage);

/// A micro-batch a period, after one for each stage.
inline SteadyState one_by_one(const ScheduleShape& shape) { return {1, shape.stages, 2}; }
SteadyState interleaved_rhythm(const ScheduleShape& shape);

inline Pass forward_pass(std::int64_t micro_batch, std::int64_t chunk = 0) {
  return {Pass::Kind::forward, static_cast<std::int32_t>(micro_batch), static_cast<std::int32_t>(chunk)};
}
inline Pass backward_pass(std::int64_t micro_batch, std::int64_t chunk = 0) {
  return {Pass::Kind::backward, static_cast<std::int32_t>(micro_batch), static_cast<std::int32_t>(chunk)};
}
inline Pass input_gradient_pass(std::int64_t micro_batch, std::int64_t chunk = 0) {
  return {PassKind::backward_input, static_cast<std::int32_t>(micro_batch), static_cast<std::int32_t>(chunk)};
}
inline Pass weight_gradient_pass(std::int64_t micro_batch, std::int64_t chunk = 0) {
  return {PassKind::backward_weight, static_cast<std::int32_t>(micro_batch),
          static_cast<std::int32_t>(chunk)};
}

}  // namespace orrery
