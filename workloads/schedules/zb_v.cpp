// Qi et al. 2024, "Zero Bubble Pipeline Parallelism", section 6, ZB-V, in the order that it has for passes of
// equal length, T_F = T_B = T_W: no rank idles between its own first and last pass, and each keeps the
// activations of at most p micro-batches, as the first stage of 1F1B does. Rank r has the virtual stages r
// and 2p - 1 - r, so the loss and its first gradients are computed where the micro-batch began.
#include <algorithm>

#include "workloads/schedules/two_chunks.hpp"

namespace orrery {
namespace {

class ZeroBubbleV {
 public:
  /// The order is that of at least 2p - 1 micro-batches, which fill the pipeline.
  ZeroBubbleV(const ScheduleShape& shape, std::int64_t rank)
      : before_(rank),
        after_(shape.stages - rank),
        filling_(std::max(shape.micro_batches, 2 * shape.stages - 1)),
        order_({{{0, shape.micro_batches}, {0, shape.micro_batches}}}) {}

  std::vector<Pass> write() {
    warm_up();
    for (std::int64_t i = 0; i < filling_ - before_ - after_; ++i) steady(i);
    cool_down();
    return std::move(order_).finish();
  }

 private:
  void warm_up() {
    for (std::int64_t i = 0; i < 2 * after_ - 1; ++i) order_.forward(0);
    for (std::int64_t i = 0; i < before_; ++i) {
      order_.forward(1);
      order_.forward(0);
    }
    for (std::int64_t i = 0; i < after_; ++i) pair(1);
  }

  void steady(std::int64_t i) {
    const std::int64_t begun = before_ + 2 * after_ - 1;
    if (begun + i < filling_) order_.forward(0);
    backward(0);
    pair(1);
  }

  void cool_down() {
    for (std::int64_t i = 0; i < before_; ++i) {
      order_.input_gradient(0);
      order_.input_gradient(1);
    }
    for (std::int64_t i = 0; i < after_; ++i) {
      order_.input_gradient(0);
      order_.weight_gradient(0);
    }
    for (std::int64_t i = 0; i < before_; ++i) order_.weight_gradient(1);
    while (order_.has_put_off()) order_.weight_gradient(0);
  }

  void pair(std::int64_t chunk) {
    order_.forward(chunk);
    backward(chunk);
  }
  void backward(std::int64_t chunk) {
    order_.input_gradient(chunk);
    order_.weight_gradient(chunk);
  }

  std::int64_t before_;   ///< ranks
  std::int64_t after_;    ///< ranks, with this one
  std::int64_t filling_;  ///< micro-batches
  TwoChunkOrder order_;
};

}  // namespace

std::vector<Pass> zb_v_order(const ScheduleShape& shape, std::int64_t stage) {
  return ZeroBubbleV(shape, stage).write();
}

}  // namespace orrery
