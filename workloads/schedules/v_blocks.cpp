// Qi et al. 2024, "Pipeline Parallelism with Controllable Memory": a building block says when each rank runs
// the passes of one micro-batch, and is repeated for the next one every six passes, the time of one
// micro-batch on a rank with two chunks. How long a micro-batch lives decides how much memory it takes. The
// distances between neighbouring ranks are 1 pass for all of V-Min, and 2 of V-Half for the forward pass of
// the first chunk and the gradients of inputs of the second one. Gradients of weights fill the gaps, those
// that wait longest first. Passes then run as soon as their inputs are there ("squeezing"); the reordering of
// warm-up and cool-down, which the paper leaves to a search, is not done.
#include <array>

#include "workloads/schedules/two_chunks.hpp"

namespace orrery {
namespace {

constexpr std::int64_t kPassesPerMicroBatch = 6;

/// When a rank begins the passes of the first micro-batch, in passes: forward through chunk 0 and 1,
/// gradients of inputs of chunk 1 and 0. No two of them may be a multiple of the period apart.
using BuildingBlock = std::array<std::int64_t, 4>;

class BlockRepeater {
 public:
  BlockRepeater(const BuildingBlock& block, std::int64_t micro_batches)
      : block_(block), micro_batches_(micro_batches), order_({{{0, micro_batches}, {0, micro_batches}}}) {}

  std::vector<Pass> write() {
    const std::int64_t end = block_.back() + kPassesPerMicroBatch * micro_batches_;
    for (std::int64_t time = 0; time < end; ++time) write_slot(time);
    while (order_.has_put_off()) order_.weight_gradient();
    return std::move(order_).finish();
  }

 private:
  void write_slot(std::int64_t time) {
    for (std::size_t pass = 0; pass < block_.size(); ++pass) {
      if (runs(block_[pass], time)) return write_pass(pass);
    }
    if (order_.has_put_off()) order_.weight_gradient();
  }

  [[nodiscard]] bool runs(std::int64_t first, std::int64_t time) const {
    const std::int64_t since = time - first;
    return since >= 0 && since % kPassesPerMicroBatch == 0 && since / kPassesPerMicroBatch < micro_batches_;
  }

  void write_pass(std::size_t pass) {
    constexpr std::array kChunks{0, 1, 1, 0};
    pass < 2 ? order_.forward(kChunks[pass]) : order_.input_gradient(kChunks[pass]);
  }

  BuildingBlock block_;
  std::int64_t micro_batches_;
  TwoChunkOrder order_;
};

}  // namespace

/// A gap of two passes before the gradients keeps passes apart where p is a multiple of 3.
std::vector<Pass> v_min_order(const ScheduleShape& shape, std::int64_t stage) {
  const std::int64_t p = shape.stages;
  const std::int64_t gap = p % 3 == 0 ? 2 : 0;
  return BlockRepeater({stage, 2 * p - 1 - stage, 2 * p + gap + stage, 4 * p + gap - 1 - stage},
                       shape.micro_batches)
      .write();
}

/// A gap of three passes before the gradients keeps passes apart where p is even.
std::vector<Pass> v_half_order(const ScheduleShape& shape, std::int64_t stage) {
  const std::int64_t p = shape.stages;
  const std::int64_t gap = p % 2 == 0 ? 3 : 0;
  return BlockRepeater({2 * stage, 3 * p - 2 - stage, 3 * p - 1 + gap + 2 * stage, 6 * p - 2 + gap - stage},
                       shape.micro_batches)
      .write();
}

}  // namespace orrery
