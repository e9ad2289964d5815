// Narayanan et al. 2021, "Efficient Large-Scale Language Model Training on GPU Clusters", section 2.2:
// micro-batches go through a chunk in groups of g, p of them unless a plan says otherwise; the warm-up is
// 2 (p - 1 - stage) + (v - 1) g passes, or what a plan says for the first stage. Where g does not divide the
// micro-batches, those that are left form a group if they are p at least (Megatron-LM). Fewer of them would
// wait for themselves and are spread over the groups (torch.distributed.pipelining), the first ones, since a
// later group that is larger would need a longer warm-up.
#include <algorithm>
#include <string>

#include "workloads/schedules/orders.hpp"

namespace orrery {
namespace {

struct Place {
  std::int64_t micro_batch;
  std::int64_t chunk;
};

std::int64_t group_of(const ScheduleShape& shape) { return shape.group > 0 ? shape.group : shape.stages; }

/// Micro-batches of each group, never fewer than of a later one.
std::vector<std::int64_t> group_sizes(const ScheduleShape& shape) {
  const std::int64_t m = shape.micro_batches;
  const std::int64_t left = m % group_of(shape);
  const std::int64_t count = std::max<std::int64_t>(1, m / group_of(shape));
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(count), group_of(shape));
  if (left >= shape.stages && m > left) {
    sizes.push_back(left);
  } else {
    for (std::int64_t i = 0; i < count; ++i)
      sizes[static_cast<std::size_t>(i)] = m / count + (i < m % count ? 1 : 0);
  }
  return sizes;
}

/// The passes of a rank in one direction, chunks counted in the order they are visited.
std::vector<Place> places_of(const ScheduleShape& shape) {
  std::vector<Place> places;
  places.reserve(static_cast<std::size_t>(shape.micro_batches * shape.chunks));
  std::int64_t first = 0;
  for (const std::int64_t size : group_sizes(shape)) {
    for (std::int64_t chunk = 0; chunk < shape.chunks; ++chunk) {
      for (std::int64_t i = first; i < first + size; ++i) places.push_back({i, chunk});
    }
    first += size;
  }
  return places;
}

/// Passes until the first micro-batch reaches the last chunk: a rank needs as many before any backward pass.
std::int64_t least_warm_up(const ScheduleShape& shape) {
  return (shape.chunks - 1) * group_sizes(shape).front();
}

/// Returns the shortest warm-up if passes run in pairs, which take inputs and give outputs together. A rank
/// is at least one pair ahead of the next one.
std::int64_t least_warm_up(const ScheduleShape& shape, std::int64_t stage) {
  return least_warm_up(shape) + shape.ahead * (shape.stages - stage);
}

std::int64_t interleaved_warm_up(const ScheduleShape& shape, std::int64_t stage) {
  const std::int64_t total = shape.micro_batches * shape.chunks;
  const std::int64_t ahead = shape.ahead - 2 * stage;
  if (shape.warm_up > 0) return std::min(std::max(shape.warm_up + ahead, least_warm_up(shape, stage)), total);
  if (shape.micro_batches == shape.stages) return total;
  return std::min(2 * (shape.stages - 1) + ahead + least_warm_up(shape), total);
}

}  // namespace

std::vector<Pass> interleaved_order(const ScheduleShape& shape, std::int64_t stage) {
  if (shape.chunks == 1) return one_f_one_b_order(shape, stage);
  const std::int64_t total = shape.micro_batches * shape.chunks;
  const std::int64_t warmup = interleaved_warm_up(shape, stage);
  std::vector<Pass> order;
  order.reserve(static_cast<std::size_t>(2 * total));
  const std::vector<Place> places = places_of(shape);
  const auto forward = [&](std::int64_t k) {
    const Place at = places[static_cast<std::size_t>(k)];
    order.push_back(forward_pass(at.micro_batch, at.chunk));
  };
  const auto backward = [&](std::int64_t k, auto pass) {
    const Place at = places[static_cast<std::size_t>(k)];
    order.push_back(pass(at.micro_batch, shape.chunks - 1 - at.chunk));
  };
  for (std::int64_t k = 0; k < warmup; ++k) forward(k);
  for (std::int64_t k = warmup; k < total; ++k) {
    forward(k);
    backward(k - warmup, backward_pass_beside);
  }
  for (std::int64_t k = total - warmup; k < total; ++k) backward(k, backward_pass);
  return order;
}

/// Groups of micro-batches.
SteadyState interleaved_period(const ScheduleShape& shape) {
  if (shape.chunks == 1) return one_by_one(shape);
  return {group_of(shape), 2 * group_of(shape) + shape.warm_up, 1};
}

std::optional<ScheduleObstacle> interleaved_obstacle(const ScheduleShape& shape) {
  if (group_of(shape) < shape.stages)
    return ScheduleObstacle{"micro_batch_group_size", std::to_string(shape.group),
                            "at least pipeline_parallel " + std::to_string(shape.stages)};
  if (shape.chunks == 1) return one_f_one_b_obstacle(shape);
  const std::int64_t least = least_warm_up(shape, 0) - shape.ahead;
  const std::int64_t most = shape.micro_batches * shape.chunks;
  if (shape.warm_up == 0 || (shape.warm_up >= least && shape.warm_up <= most)) return {};
  return ScheduleObstacle{"warmup_micro_batches", std::to_string(shape.warm_up),
                          std::to_string(least) + " to " + std::to_string(most)};
}

}  // namespace orrery
