// Writes the order of a rank with two chunks, whose schedule says which kind of pass of which chunk comes
// next. The micro-batches of a chunk take their turns.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "workloads/schedules/orders.hpp"

namespace orrery {

/// Micro-batches [first, end).
struct MicroBatches {
  std::int64_t first = 0;
  std::int64_t end = 0;
};

class TwoChunkOrder {
 public:
  /// @param micro_batches  of each chunk; passes of later ones are left out of the order
  explicit TwoChunkOrder(std::array<MicroBatches, 2> micro_batches)
      : micro_batches_(micro_batches), forwards_(firsts()), backwards_(firsts()) {}

  void forward(std::int64_t chunk) { add(forward_pass(forwards_[at(chunk)]++, chunk)); }
  void backward(std::int64_t chunk) { add(backward_pass(backwards_[at(chunk)]++, chunk)); }
  /// A forward pass, and beside it a backward pass of the other chunk.
  void pair(std::int64_t ahead, std::int64_t back) {
    forward(ahead);
    add(backward_pass_beside(backwards_[at(back)]++, back));
  }
  /// The gradients of inputs alone.
  void input_gradient(std::int64_t chunk) {
    const std::int64_t micro_batch = backwards_[at(chunk)]++;
    add(input_gradient_pass(micro_batch, chunk));
    put_off_.push_back(weight_gradient_pass(micro_batch, chunk));
  }
  /// The gradients of weights that have been put off longest.
  void weight_gradient() { take(put_off_.begin()); }
  /// Writes the put-off weight-gradient pass of a chunk.
  void weight_gradient(std::int64_t chunk) { take(std::ranges::find(put_off_, chunk, &Pass::chunk)); }
  [[nodiscard]] bool has_put_off() const { return !put_off_.empty(); }

  [[nodiscard]] std::vector<Pass> finish() && { return std::move(order_); }

 private:
  static std::size_t at(std::int64_t chunk) { return static_cast<std::size_t>(chunk); }
  [[nodiscard]] std::array<std::int64_t, 2> firsts() const {
    return {micro_batches_[0].first, micro_batches_[1].first};
  }
  void add(const Pass& pass) {
    if (pass.micro_batch < micro_batches_[at(pass.chunk)].end) order_.push_back(pass);
  }
  void take(std::deque<Pass>::iterator which) {
    add(*which);
    put_off_.erase(which);
  }

  std::array<MicroBatches, 2> micro_batches_;
  std::array<std::int64_t, 2> forwards_;   ///< next micro-batch of each chunk
  std::array<std::int64_t, 2> backwards_;  ///< the same
  std::deque<Pass> put_off_;
  std::vector<Pass> order_;
};

}  // namespace orrery
