// The data-parallel dimension of one program: gradient reduction in buckets, ZeRO's parameter
// gathers (Rajbhandari et al. 2020), the tied-embedding sum and the optimizer step. Where replicas may
// differ, gradients are reduced within workers only and ModelSync brings the models together.
//
//   ZeRO   gradients                                  parameters
//   0      all-reduce once a step                     whole everywhere
//   1      reduce-scatter once a step                 all-gather after the optimizer step
//   2      reduce-scatter every micro-batch           all-gather after the optimizer step
//   3      reduce-scatter every micro-batch           all-gather before each forward and backward pass
//
// Experts have copies of their own, on ranks that differ from those of the other weights: the same is done
// for them in buckets of their own.
//
// Where groups of replicas hold a copy each of what is sharded, these happen within a group, and gradients
// are summed over the copies by an all-reduce of each shard.
#pragma once

#include <array>
#include <vector>

#include "orrery/experiment.hpp"
#include "workloads/programs/program_writer.hpp"
#include "workloads/programs/stages.hpp"
#include "workloads/sync/averaging.hpp"
#include "workloads/sync/model_sync.hpp"

namespace orrery {

/// Weights whose gradients the same ranks add up.
enum class Weights : std::uint8_t { common, experts };
inline constexpr std::array kAllWeights{Weights::common, Weights::experts};

class DataParallel {
 public:
  DataParallel(const Experiment& experiment, const SyncLayout& layout, const ModelBlocks& blocks,
               const Stage& stage, Workload& workload, ProgramWriter& writer);

  /// A step begins. Returns what its first operation has to wait for.
  OpId begin_step(std::int32_t step);

  /// Whether its collectives meet this pass between its ends.
  [[nodiscard]] bool meets(const Pass& pass) const;
  /// Whether they meet this pass, and not those of later micro-batches.
  [[nodiscard]] bool meets_first(const Pass& pass) const {
    return pass.kind == Pass::Kind::forward && !gathered_.empty() &&
           pass.micro_batch % plan_.micro_batches_per_copy() == 0;
  }

  /// Call before a block runs in either direction. Returns the gather it has to wait for, or kNoOp.
  OpId before_block(const Pass& pass, std::size_t block);

  /// Call when a block is written in either direction; `done` is its last operation. Returns an
  /// operation that later compute has to wait for, or kNoOp.
  OpId after_block(const Pass& pass, std::size_t block, OpId done);

  /// Call when a pass is written that completes gradients and that it does not meet, in place of after_block
  /// for each.
  void after_blocks(const Pass& pass, OpId done);

  /// Call when a pass over a whole chunk is written that completes gradients. Returns as after_block.
  OpId after_backward_pass(const Pass& pass, OpId done);

  /// Reduces what is left; `last` is the last operation of the last pass. Returns the operation that
  /// ends latest, or kNoOp.
  OpId reduce_rest(OpId last);

  /// Runs the optimizer after `last` and the reductions. Returns the operation that ends the step.
  OpId optimize(OpId last);

 private:
  [[nodiscard]] std::uint32_t together(std::int64_t pieces) const;
  OpId collective(Collective what, Weights of, std::int64_t parameters, Part part, Phase phase,
                  const Pass* pass, OpId dep, std::int64_t pieces = 1);
  OpId average(const Pass* pass, OpId done, std::int64_t pieces);
  OpId reduce_shards(Weights of, const Pass* pass, OpId done, std::int64_t pieces);
  OpId update(std::uint32_t work, const Pass* pass, std::initializer_list<OpId> deps);
  /// Whether it is the last of its chunk that completes gradients in this step.
  [[nodiscard]] bool is_last(const Pass& pass) const {
    return backward_passes_[static_cast<std::size_t>(pass.chunk)] + 1 == plan_.micro_batches_per_copy();
  }
  OpId reduce_block(const Pass& pass, std::size_t block, OpId done);
  OpId flush(Weights of, const Pass* pass, OpId done, std::int64_t pieces = 1);
  OpId flush_all(const Pass* pass, OpId done);
  void reduce_rest_of(Weights of, OpId last);
  [[nodiscard]] const Block& block_at(const Pass& pass, std::size_t block) const;
  [[nodiscard]] std::int64_t pieces_of(std::int64_t tensors) const;
  [[nodiscard]] std::vector<std::size_t> chunks_in_model_order() const;
  [[nodiscard]] std::int64_t pieces_of(Weights of, const Block& block) const;
  void gather_ahead(Weights of);
  OpId gather_block(Weights of, const Pass& pass, std::size_t block, OpId after);
  OpId gather_updated(Weights of, OpId updated);
  /// Ranks that hold the same of them.
  [[nodiscard]] std::int64_t copies(Weights of) const;
  /// Parameters of them that a rank updates.
  [[nodiscard]] std::int64_t owned(Weights of) const;
  [[nodiscard]] std::int64_t trained(Weights of) const;
  [[nodiscard]] bool reduces(Weights of) const { return reduces_[static_cast<std::size_t>(of)]; }
  [[nodiscard]] std::int64_t& bucket(Weights of) { return bucket_[static_cast<std::size_t>(of)]; }
  void sum_tied_embedding(OpId last);

  const Experiment& experiment_;
  const Plan& plan_;
  const SyncLayout& layout_;
  bool by_tensor_;
  std::array<bool, kAllWeights.size()> reduces_;  ///< their gradients are summed over ranks
  bool enabled_;                                  ///< those of any
  bool everywhere_;                               ///< over all replicas, not only those of a worker
  bool in_a_row_;  ///< collectives that follow each other right away are one operation
  const ModelBlocks& blocks_;
  const Stage& stage_;
  Workload& workload_;
  ProgramWriter& writer_;
  Bytes element_;
  Bytes gradient_;
  std::int64_t bucket_elements_;
  Picoseconds message_host_;  ///< to issue a collective
  double gather_efficiency_;
  std::uint32_t optimizer_work_;
  Averaging averaging_;
  ModelSync models_;

  std::int32_t step_ = 0;
  OpId ready_ = kNoOp;                                     ///< parameters of this step are up to date
  OpId last_reduce_ = kNoOp;                               ///< latest operation on the data stream
  OpId last_block_ = kNoOp;                                ///< end of the block that runs
  OpId block_before_last_ = kNoOp;                         ///< and of the one before it
  std::array<std::int64_t, kAllWeights.size()> bucket_{};  ///< parameters whose gradients wait to be reduced
  std::vector<std::int64_t> backward_passes_;              ///< per chunk, of this step
  std::vector<std::vector<OpId>> gathered_;                ///< [chunk][block] of gathers issued ahead
};

}  // namespace orrery
