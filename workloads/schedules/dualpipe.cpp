// DeepSeek-AI 2024, "DeepSeek-V3 Technical Report", section 3.2.1, DualPipe: two copies of the model lie in
// the pipeline, in opposite directions, and each takes half of the micro-batches. DualPipeV is one half of it
// (the "cut-in-half" of Qi et al. 2025): the ranks from the first to the middle one, each with two virtual
// stages of one copy, in a V. So rank r of 2P in DualPipe and its mirror image run what rank r of P runs in
// DualPipeV. Forward and backward passes that stand side by side in the main part are meant to overlap, one's
// messages with the other's kernels.
//
// With L stages of one copy (L = p in DualPipe, 2p in DualPipeV), F, B and W for the forward, backward and
// weight gradient pass of a stage, and F&B for a pair that takes its inputs and gives its outputs together, a
// rank idles (L/2 - 1)(F&B + B - 3W) where F = W = B/2, and keeps the activations of L + 1 passes.
#include <string>

#include "workloads/schedules/two_chunks.hpp"

namespace orrery {
namespace {

/// The order of one rank. Chunk `near` is the one whose micro-batches come in at the end of the pipeline
/// that is closer to the rank.
class DualPipe {
 public:
  /// @param rank          counted from the closer end of the pipeline
  /// @param ranks         from that end to the middle
  /// @param micro_batches  of each chunk, at least 2 `ranks`
  DualPipe(std::int64_t rank, std::int64_t ranks, std::int64_t near,
           std::array<MicroBatches, 2> micro_batches)
      : before_(rank),
        after_(ranks - 1 - rank),
        main_(micro_batches[0].end - micro_batches[0].first - 2 * ranks + rank + 1),
        near_(near),
        far_(1 - near),
        order_(micro_batches) {}

  std::vector<Pass> write() {
    warm_up();
    for (std::int64_t i = 0; i < main_; ++i) {
      order_.pair(near_, far_);
      order_.pair(far_, near_);
    }
    for (std::int64_t i = 0; i < after_; ++i) {
      order_.backward(far_);
      order_.pair(far_, near_);
    }
    cool_down();
    return std::move(order_).finish();
  }

 private:
  void warm_up() {
    for (std::int64_t i = 0; i < 2 * after_; ++i) order_.forward(near_);
    for (std::int64_t i = 0; i <= before_; ++i) {
      order_.forward(near_);
      order_.forward(far_);
    }
    for (std::int64_t i = 0; i < after_; ++i) {
      order_.input_gradient(far_);
      order_.weight_gradient();
      order_.forward(far_);
    }
  }

  /// Half of the backward passes that are left put off the gradients of weights, which fill the gaps at the
  /// end.
  void cool_down() {
    for (std::int64_t i = 0; i <= 2 * before_ + 1; ++i) backward(i % 2 == 0 ? far_ : near_, i > before_);
    for (std::int64_t i = 0; i < after_; ++i) {
      order_.weight_gradient();
      order_.input_gradient(near_);
    }
    while (order_.has_put_off()) order_.weight_gradient();
  }

  void backward(std::int64_t chunk, bool in_halves) {
    in_halves ? order_.input_gradient(chunk) : order_.backward(chunk);
  }

  std::int64_t before_;  ///< ranks between the end of the pipeline and this one
  std::int64_t after_;   ///< ranks between this one and the middle
  std::int64_t main_;    ///< rounds of the main part
  std::int64_t near_;
  std::int64_t far_;
  TwoChunkOrder order_;
};

/// Until the pipeline is full, a rank runs 2P forward passes of either chunk.
std::optional<ScheduleObstacle> too_few(const ScheduleShape& shape) {
  if (shape.micro_batches >= 2 * shape.stages) return {};
  return ScheduleObstacle{"global_batch_size", std::to_string(shape.micro_batches) + " micro-batches",
                          "at least 2 x pipeline_parallel " + std::to_string(shape.stages) + " = " +
                              std::to_string(2 * shape.stages)};
}

}  // namespace

std::vector<Pass> dualpipe_order(const ScheduleShape& shape, std::int64_t stage) {
  const std::int64_t half = shape.micro_batches / 2;
  const bool first_half = stage < shape.stages / 2;
  const std::int64_t rank = first_half ? stage : shape.stages - 1 - stage;
  return DualPipe(rank, shape.stages / 2, first_half ? 0 : 1, {{{0, half}, {half, 2 * half}}}).write();
}

std::vector<Pass> dualpipe_v_order(const ScheduleShape& shape, std::int64_t stage) {
  return DualPipe(stage, shape.stages, 0, {{{0, shape.micro_batches}, {0, shape.micro_batches}}}).write();
}

std::optional<ScheduleObstacle> dualpipe_obstacle(const ScheduleShape& shape) {
  if (shape.stages % 2 != 0)
    return ScheduleObstacle{"pipeline_parallel", std::to_string(shape.stages), "an even number"};
  if (shape.micro_batches % 2 != 0)
    return ScheduleObstacle{"global_batch_size", std::to_string(shape.micro_batches) + " micro-batches",
                            "an even number"};
  return too_few(shape);
}

std::optional<ScheduleObstacle> dualpipe_v_obstacle(const ScheduleShape& shape) { return too_few(shape); }

}  // namespace orrery
