// Narayanan et al. 2021, "Efficient Large-Scale Language Model Training on GPU Clusters", section 2.2:
// micro-batches go through a chunk in groups of p; the warm-up is 2 (p - 1 - stage) + (v - 1) p passes.
#include <algorithm>

#include "workloads/schedules/orders.hpp"

namespace orrery {
namespace {

struct Place {
  std::int64_t micro_batch;
  std::int64_t chunk;
};

/// The passes of a rank in one direction, chunks counted in the order they are visited.
std::vector<Place> places_of(const ScheduleShape& shape) {
  std::vector<Place> places;
  places.reserve(static_cast<std::size_t>(shape.micro_batches * shape.chunks));
  for (std::int64_t first = 0; first < shape.micro_batches; first += shape.stages) {
    for (std::int64_t chunk = 0; chunk < shape.chunks; ++chunk) {
      for (std::int64_t i = first; i < first + shape.stages; ++i) places.push_back({i, chunk});
    }
  }
  return places;
}

}  // namespace

std::vector<Pass> interleaved_order(const ScheduleShape& shape, std::int64_t stage) {
  if (shape.chunks == 1) return one_f_one_b_order(shape, stage);
  const std::int64_t total = shape.micro_batches * shape.chunks;
  const std::int64_t warmup =
      shape.micro_batches == shape.stages
          ? total
          : std::min(2 * (shape.stages - 1 - stage) + (shape.chunks - 1) * shape.stages, total);
  std::vector<Pass> order;
  order.reserve(static_cast<std::size_t>(2 * total));
  const std::vector<Place> places = places_of(shape);
  const auto forward = [&](std::int64_t k) {
    const Place at = places[static_cast<std::size_t>(k)];
    order.push_back(forward_pass(at.micro_batch, at.chunk));
  };
  const auto backward = [&](std::int64_t k) {
    const Place at = places[static_cast<std::size_t>(k)];
    order.push_back(backward_pass(at.micro_batch, shape.chunks - 1 - at.chunk));
  };
  for (std::int64_t k = 0; k < warmup; ++k) forward(k);
  for (std::int64_t k = warmup; k < total; ++k) {
    forward(k);
    backward(k - warmup);
  }
  for (std::int64_t k = total - warmup; k < total; ++k) backward(k);
  return order;
}

/// Groups of p micro-batches.
SteadyState interleaved_rhythm(const ScheduleShape& shape) {
  return shape.chunks == 1 ? one_by_one(shape) : SteadyState{shape.stages, 2 * shape.stages, 1};
}

}  // namespace orrery
