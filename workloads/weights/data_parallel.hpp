// Writes the data-parallel dimension of one program: gradient reduction in buckets, ZeRO's parameter gathers
// (Rajbhandari et al. 2020), the tied-embedding sum and the optimizer step. Where replicas may differ,
// gradients are reduced within workers only and ModelSync brings the models together.
//
//   ZeRO   gradients                        parameters
//   0      all-reduce                       whole everywhere
//   1, 2   reduce-scatter                   all-gather after the optimizer step
//   3      reduce-scatter, unit by unit     all-gather before each forward and backward pass
//
// Gradients are reduced once a step up to ZeRO-1, and with every micro-batch from ZeRO-2 on, unless
// Plan::gradient_reduction says otherwise.
//
// Experts have copies of their own, on ranks that differ from those of the other weights: the same is done
// for them in buckets of their own.
//
// If each group of replicas holds a sharded copy, these happen within a group, and gradients
// are summed over the copies by an all-reduce of each shard.
#pragma once

#include <array>
#include <vector>

#include "orrery/experiment.hpp"
#include "workloads/programs/program_writer.hpp"
#include "workloads/programs/stages.hpp"
#include "workloads/sync/averaging.hpp"
#include "workloads/sync/model_sync.hpp"
#include "workloads/weights/optimizer_offload.hpp"
#include "workloads/weights/parameter_gather.hpp"
#include "workloads/weights/weight_collectives.hpp"

namespace orrery {

class DataParallel {
 public:
  DataParallel(const Experiment& experiment, const CommunicatorLayout& layout, const ModelBlocks& blocks,
               const Stage& stage, Workload& workload, ProgramWriter& writer);

  /// Begins a step. Returns the operation that its first one has to wait for.
  OpId begin_step(std::int32_t step);

  /// Returns true if a collective begins or ends within this pass.
  [[nodiscard]] bool meets(const Pass& pass) const;
  /// Returns true if collectives fall into this pass, but not into those of later micro-batches.
  [[nodiscard]] bool meets_first(const Pass& pass) const {
    return gathers_.meets_first(pass) || models_.meets(pass);
  }

  /// Call before a block runs in either direction. Returns the operation that brings its parameters, such as
  /// a gather, which it has to wait for, or kNoOp.
  OpId before_block(const Pass& pass, std::size_t block) {
    return models_.before_block(pass, block, gathers_.before_block(pass, block));
  }

  /// Call when a block is written in either direction; `done` is its last operation, and with the end of
  /// `begin` it begins, kNoOp where that is not known. Returns an operation that later compute has to wait
  /// for, or kNoOp.
  OpId after_block(const Pass& pass, std::size_t block, OpId done, OpId begin = kNoOp);

  /// Call when a pass is written that completes gradients and that it does not meet, in place of after_block
  /// for each.
  void after_blocks(const Pass& pass, OpId done);

  /// Call when a pass over a whole chunk is written that completes gradients. Returns as after_block.
  OpId after_backward_pass(const Pass& pass, OpId done);

  /// Reduces the remaining gradients; `last` is the last operation of the last pass. Returns the operation
  /// that ends latest, or kNoOp.
  OpId reduce_rest(OpId last);

  /// Runs the optimizer after `last` and the reductions. Returns the operation that ends the step.
  OpId optimize(OpId last);

 private:
  /// Returns true if gradients of any weights are summed over ranks.
  [[nodiscard]] bool enabled() const { return collectives_.reduces_any(); }
  OpId average(const Pass* pass, OpId done, std::int64_t pieces);
  OpId average_shards(std::int64_t shard, const Pass* pass, OpId scattered, std::int64_t pieces);
  /// Returns an operation labelled with the pass, or with none.
  [[nodiscard]] Op label(const Pass* pass) const;
  OpId reduce_shards(Weights of, const Pass* pass, OpId done, std::int64_t pieces);
  OpId gather_momentum(OpId last);
  OpId update_all(OpId last);
  void hold_update(OpId own);
  OpId update(std::uint32_t work, const Pass* pass, std::initializer_list<OpId> deps);
  /// Returns true if the pass is the last of its chunk that completes gradients in this step.
  [[nodiscard]] bool is_last(const Pass& pass) const {
    return backward_passes_[static_cast<std::size_t>(pass.chunk)] + 1 == plan_.micro_batches_per_copy();
  }
  OpId reduce_block(const Pass& pass, std::size_t block, OpId done, OpId begin);
  OpId reduce_full(Weights of, const Pass& pass, std::int64_t gradients, OpId done, OpId begin);
  OpId reduce_buckets(Weights of, const Pass* pass, std::int64_t buckets, OpId done);
  OpId flush(Weights of, const Pass* pass, OpId done, std::int64_t pieces = 1);
  OpId flush_all(const Pass* pass, OpId done);
  void reduce_rest_of(Weights of, OpId last);
  [[nodiscard]] std::int64_t owned(Weights of) const;
  [[nodiscard]] std::int64_t& bucket(Weights of) { return bucket_[static_cast<std::size_t>(of)]; }
  void sum_tied_embedding(OpId last);

  const Experiment& experiment_;
  const Plan& plan_;
  const CommunicatorLayout& layout_;
  const ModelBlocks& blocks_;
  const Stage& stage_;
  Workload& workload_;
  ProgramWriter& writer_;
  WeightCollectives collectives_;
  ParameterGather gathers_;
  bool everywhere_;  ///< gradients are summed over all replicas, not only those of a worker
  Bytes gradient_;
  std::int64_t bucket_elements_;
  Picoseconds message_host_;  ///< to issue a collective
  OptimizerOffload offload_;
  std::uint32_t optimizer_work_;
  Averaging averaging_;
  ModelSync models_;

  std::int32_t step_ = 0;
  OpId ready_ = kNoOp;                                     ///< parameters of this step are up to date
  OpId last_reduce_ = kNoOp;                               ///< latest reduction of gradients
  std::array<std::int64_t, kAllWeights.size()> bucket_{};  ///< parameters whose gradients wait to be reduced
  ModelSync::Place bucket_begins_;             ///< the block that was the last to go into a bucket
  std::vector<std::int64_t> backward_passes_;  ///< per chunk, of this step
};

}  // namespace orrery
