// Declares the orders behind the rows of `pipeline_schedules()`; each has a file of its own.
#pragma once

#include "workloads/schedules/schedules.hpp"

namespace orrery {

std::vector<Pass> sequential_order(const ScheduleShape& shape, std::int64_t stage);
std::vector<Pass> gpipe_order(const ScheduleShape& shape, std::int64_t stage);
std::vector<Pass> one_f_one_b_order(const ScheduleShape& shape, std::int64_t stage);
std::vector<Pass> interleaved_order(const ScheduleShape& shape, std::int64_t stage);
std::vector<Pass> zb_h1_order(const ScheduleShape& shape, std::int64_t stage);
std::vector<Pass> zb_h2_order(const ScheduleShape& shape, std::int64_t stage);
std::vector<Pass> zb_v_order(const ScheduleShape& shape, std::int64_t stage);
std::vector<Pass> v_half_order(const ScheduleShape& shape, std::int64_t stage);
std::vector<Pass> v_min_order(const ScheduleShape& shape, std::int64_t stage);
std::vector<Pass> dualpipe_order(const ScheduleShape& shape, std::int64_t stage);
std::vector<Pass> dualpipe_v_order(const ScheduleShape& shape, std::int64_t stage);

/// Returns an order of one forward pass and both halves of a backward pass in turn: the gradients of inputs
/// follow the forward pass of `ahead` micro-batches later, those of weights the gradients of inputs of
/// `put_off` later.
std::vector<Pass> split_order(std::int64_t micro_batches, std::int64_t ahead, std::int64_t put_off);

std::int64_t sequential_kept(const ScheduleShape& shape, std::int64_t stage);
std::int64_t gpipe_kept(const ScheduleShape& shape, std::int64_t stage);
std::int64_t one_f_one_b_kept(const ScheduleShape& shape, std::int64_t stage);
std::int64_t zb_h1_kept(const ScheduleShape& shape, std::int64_t stage);
std::int64_t zb_h2_kept(const ScheduleShape& shape, std::int64_t stage);

std::optional<ScheduleObstacle> interleaved_obstacle(const ScheduleShape& shape);
std::optional<ScheduleObstacle> one_f_one_b_obstacle(const ScheduleShape& shape);
std::optional<ScheduleObstacle> dualpipe_obstacle(const ScheduleShape& shape);
std::optional<ScheduleObstacle> dualpipe_v_obstacle(const ScheduleShape& shape);

/// A micro-batch a period, after one for each stage.
inline SteadyState one_by_one(const ScheduleShape& shape) { return {1, shape.stages + shape.warm_up, 2}; }
/// Returns the steady state after two rounds for each stage; gradients may come from two periods ago.
inline SteadyState after_two_rounds(const ScheduleShape& shape) { return {1, 2 * shape.stages, 3}; }
SteadyState interleaved_period(const ScheduleShape& shape);

inline Pass forward_pass(std::int64_t micro_batch, std::int64_t chunk = 0) {
  return {Pass::Kind::forward, static_cast<std::int32_t>(micro_batch), static_cast<std::int32_t>(chunk)};
}
inline Pass backward_pass(std::int64_t micro_batch, std::int64_t chunk = 0) {
  return {Pass::Kind::backward, static_cast<std::int32_t>(micro_batch), static_cast<std::int32_t>(chunk)};
}
/// Returns a backward pass that may run beside the forward pass before it.
inline Pass backward_pass_beside(std::int64_t micro_batch, std::int64_t chunk = 0) {
  Pass pass = backward_pass(micro_batch, chunk);
  pass.beside_forward = true;
  return pass;
}
inline Pass input_gradient_pass(std::int64_t micro_batch, std::int64_t chunk = 0) {
  return {PassKind::backward_input, static_cast<std::int32_t>(micro_batch), static_cast<std::int32_t>(chunk)};
}
inline Pass weight_gradient_pass(std::int64_t micro_batch, std::int64_t chunk = 0) {
  return {PassKind::backward_weight, static_cast<std::int32_t>(micro_batch),
          static_cast<std::int32_t>(chunk)};
}

}  // namespace orrery
