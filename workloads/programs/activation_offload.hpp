// Activations of layers that lie in the memory of the host between their forward and backward passes (Rhu et
// al. 2016, "vDNN"; as Transformer Engine and InternEvo do it): copied out beside the passes after them, and
// back one layer ahead of its use.
//
// A layer that is offloaded is a kind of block of its own, which keeps nothing on the GPU. Three of them are
// there at a time: one that runs, one on its way out, and one on its way in.
#pragma once

#include <array>
#include <vector>

#include "workloads/programs/program_writer.hpp"
#include "workloads/programs/stages.hpp"

namespace orrery {

/// Offloads the first layers of each virtual stage, as many as the plan says: those whose backward pass is
/// farthest away.
void offload_layers(const Plan& plan, ModelBlocks& blocks);
/// Gives them the steps of the layers they are.
void copy_steps_to_offloaded(ModelBlocks& blocks);

/// Returns the bytes that the copies of a stage need on the GPU.
[[nodiscard]] Bytes offload_buffers(const Stage& stage);

/// Writes the copies of one program.
class ActivationOffload {
 public:
  ActivationOffload(const Plan& plan, const ModelBlocks& blocks, const Stage& stage, Workload& workload,
                    ProgramWriter& writer);

  void begin_step(std::int32_t step);

  /// Returns true if copies begin or end within the pass.
  [[nodiscard]] bool meets(const Pass& pass) const;
  /// Call before a block runs in either direction. Returns the copy it has to wait for, or kNoOp: that of its
  /// activations back, or the one after which there is room for them.
  OpId before_block(const Pass& pass, std::size_t block);
  /// Call when a block is written in either direction; `done` is its last operation.
  void after_block(const Pass& pass, std::size_t block, OpId done);

 private:
  [[nodiscard]] Bytes offloaded(const Pass& pass, std::size_t block) const {
    return stage_.chunks[static_cast<std::size_t>(pass.chunk)].blocks[block].offloaded;
  }
  /// The copy out of a block's activations.
  [[nodiscard]] OpId& copy_out(const Pass& pass, std::size_t block);
  OpId copy(Stream stream, const Pass& pass, std::size_t block, OpId dep, OpId after);

  const Stage& stage_;
  Workload& workload_;
  ProgramWriter& writer_;
  std::vector<std::size_t> first_block_;          ///< [chunk], counted over all chunks
  std::size_t blocks_ = 0;                        ///< of all chunks
  std::vector<OpId> out_;                         ///< [micro-batch][block of all chunks]
  std::array<OpId, 2> latest_out_{kNoOp, kNoOp};  ///< copies, the older first
  std::array<OpId, 2> ends_{kNoOp, kNoOp};        ///< of the blocks that ran last, the older first
  std::int32_t step_ = 0;
};

}  // namespace orrery
