// Schedules the gathers of sharded parameters. ZeRO-1 and 2 gather them once a step, after the update or
// ahead beside the first forward passes; ZeRO-3 gathers each unit before a pass runs through it (Zhao et al.
// 2023).
#pragma once

#include <vector>

#include "workloads/weights/weight_collectives.hpp"

namespace orrery {

class ParameterGather {
 public:
  ParameterGather(const Plan& plan, const Stage& stage, WeightCollectives& collectives);

  /// A step begins, in which parameters are up to date after `ready`.
  void begin_step(OpId ready);

  /// Returns true if parameters are gathered within this pass.
  [[nodiscard]] bool meets(const Pass& pass) const;
  /// Returns true if parameters are gathered within this pass, but not within those of later micro-batches.
  [[nodiscard]] bool meets_first(const Pass& pass) const {
    return pass.kind == Pass::Kind::forward && !ahead_.empty() &&
           pass.micro_batch % plan_.micro_batches_per_copy() == 0;
  }

  /// Call before a block runs in either direction. Returns the gather it has to wait for, or kNoOp.
  OpId before_block(const Pass& pass, std::size_t block);
  /// Call when a block is written in either direction; `done` is its last operation, the sum of its gradients
  /// included where compute waits for that.
  void after_block(const Pass& pass, std::size_t block, OpId done);

  [[nodiscard]] const FsdpUnit& unit_of(const Pass& pass, std::size_t block) const {
    return units_[static_cast<std::size_t>(pass.chunk)][block];
  }
  /// Returns true if the pass leaves a unit with the block.
  [[nodiscard]] bool ends_unit(const Pass& pass, std::size_t block) const {
    return unit_of(pass, block).ends_with(block, pass.kind == Pass::Kind::forward);
  }

  /// ZeRO-1 and 2 without overlap: all parameters after the update, the operation that ends last.
  OpId after_update(OpId updated);

 private:
  /// Returns the flag that is set while the unit of the block is gathered and kept.
  [[nodiscard]] char& whole(const Pass& pass, std::size_t block) {
    return whole_[static_cast<std::size_t>(pass.chunk)][unit_of(pass, block).first];
  }
  [[nodiscard]] std::vector<std::size_t> chunks_in_model_order() const;
  void gather_ahead(Weights of);
  OpId gather_unit(Weights of, const Pass& pass, const FsdpUnit& unit, OpId after);

  const Plan& plan_;
  const Stage& stage_;
  WeightCollectives& collectives_;
  OpId ready_ = kNoOp;
  std::vector<std::vector<OpId>> ahead_;      ///< [chunk][block] of gathers issued ahead; empty without
  std::vector<std::vector<FsdpUnit>> units_;  ///< [chunk][block]
  std::vector<std::vector<char>> whole_;      ///< [chunk][first block of a unit]: gathered and kept
  std::vector<OpId> ends_;                    ///< of the latest units that ran, the oldest first
};

}  // namespace orrery
