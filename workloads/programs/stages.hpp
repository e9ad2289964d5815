// Describes the blocks that each pipeline rank holds, the order of its passes over them, and their memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "orrery/experiment.hpp"
#include "workloads/communicators/communicator_layout.hpp"
#include "workloads/models/blocks.hpp"
#include "workloads/schedules/schedules.hpp"

namespace orrery {

/// A block in its place in the model.
struct PlacedBlock {
  std::uint32_t kind = 0;   ///< index into ModelBlocks::kinds
  std::int32_t layer = -1;  ///< -1 for embedding and head
  Part part = Part::layer;
  std::int64_t parameters = 0;  ///< on this rank; with the copy of a tied embedding on the last stage
  std::int64_t used = 0;        ///< parameters it computes with: those, and an embedding it shares in place
  std::int64_t trained = 0;     ///< of its parameters
  std::int64_t experts = 0;     ///< of those, of experts
  Bytes offloaded = 0;          ///< activations that lie in the memory of the host per micro-batch
  /// Bytes that ZeRO-3 has gathered for it and ahead of it, in forward and in backward passes, and of
  /// gradients it has not yet reduced.
  Bytes gathered_ahead = 0;
  Bytes gathered_back = 0;
  Bytes unreduced = 0;
  Bytes gathered_flat = 0;  ///< gradients of its unit and their flat copy, as the unit has run backward
  Bytes arriving = 0;       ///< of the rank's shard of gradients, from when the block has run backward on
};

/// Returns the bytes that a pass adds to the kept activations. The forward pass keeps `activations`; the
/// first half of a split backward pass leaves `for_weights` of them.
[[nodiscard]] constexpr Bytes change(PassKind kind, Bytes activations, Bytes for_weights) {
  switch (kind) {
    case PassKind::forward:
      return activations;
    case PassKind::backward:
      return -activations;
    case PassKind::backward_input:
      return for_weights - activations;
    case PassKind::backward_weight:
      break;
  }
  return -for_weights;
}

/// Describes a block in a pass at the moment at which it holds most: while it runs, or backward when its
/// activations are freed and the gradients of its unit are copied.
struct BlockMoment {
  Bytes at_start = 0;  ///< more than before the block
  Bytes change = 0;    ///< when it has ended
  bool freed = false;  ///< its activations, at the moment
  WorkspaceBytes workspace;
};
[[nodiscard]] BlockMoment fullest_moment(const PlacedBlock& placed, const ModelBlocks& blocks, PassKind kind);

/// The block of a chunk in whose part of a pass most is held, and how much more that is than before the pass.
struct PassPeak {
  Bytes above = 0;
  std::size_t block = 0;
  friend bool operator==(const PassPeak&, const PassPeak&) = default;
};

/// The blocks of one virtual stage, in forward order.
struct Chunk {
  std::span<const PlacedBlock> blocks;
  Boundary input;               ///< from the virtual stage before it
  Boundary output;              ///< to the next virtual stage
  ActivationBytes activations;  ///< kept per micro-batch
  Bytes for_weights = 0;        ///< kept of them where only the gradients of the weights are left
  std::array<PassPeak, kPassKindCount> peaks;
  std::int64_t parameters = 0;  ///< of all blocks
  std::int64_t trained = 0;     ///< of those
  std::int64_t experts = 0;     ///< of those, of experts
  std::int64_t narrow = 0;      ///< of all, in Plan::frozen_precision
  Bytes arriving = 0;           ///< of gradients, once a pass has completed them

  /// Returns the bytes that a pass over the chunk adds to the kept activations and to gradients.
  [[nodiscard]] Bytes change(PassKind kind) const {
    return orrery::change(kind, activations.total(), for_weights) + arrived_in(kind);
  }
  [[nodiscard]] Bytes arrived_in(PassKind kind) const { return completes_gradients(kind) ? arriving : 0; }
  [[nodiscard]] const PassPeak& peak(PassKind kind) const { return peaks[static_cast<std::size_t>(kind)]; }
};

/// Describes the chunks, parameters and passes of one pipeline rank.
struct Stage {
  std::int64_t index = 0;   ///< pipeline rank
  std::int64_t stages = 1;  ///< pipeline ranks
  std::span<const Chunk> chunks;
  ChunkMap map;

  /// Returns the place that the activations of a chunk come from, or its gradients if not `ahead`; nullopt at
  /// the ends of the model.
  [[nodiscard]] std::optional<ChunkPlace> source(std::int64_t chunk, bool ahead) const {
    return ahead ? map.before({index, chunk}) : map.after({index, chunk});
  }
  /// Parameters this rank computes with, before sharding over data-parallel ranks.
  [[nodiscard]] std::int64_t parameters() const;
  [[nodiscard]] std::int64_t trained() const;  ///< of those
  [[nodiscard]] std::int64_t experts() const;  ///< of those, parameters of experts
  [[nodiscard]] std::int64_t narrow() const;   ///< of all, in Plan::frozen_precision
  [[nodiscard]] std::int64_t trained_tensors(const ModelBlocks& blocks) const;
};

/// The stages of a plan, with all that they refer to.
class Stages {
 public:
  Stages() = default;
  Stages(const Experiment& experiment, const ModelBlocks& blocks)
      : Stages(experiment, blocks, experiment.plan) {}
  /// `plan` is that of the experiment, but for the layers of its stages.
  Stages(const Experiment& experiment, const ModelBlocks& blocks, const Plan& plan);
  Stages(Stages&&) = default;
  Stages& operator=(Stages&&) = default;
  ~Stages() = default;
  Stages(const Stages&) = delete;
  Stages& operator=(const Stages&) = delete;

  [[nodiscard]] std::span<const Stage> list() const { return stages_; }

 private:
  /// Puts the layers of one copy of the model on their ranks.
  void place_model(const Experiment& experiment, const ModelBlocks& blocks, const Plan& plan,
                   const ChunkMap& map, std::int64_t copy);

  std::vector<PlacedBlock> blocks_;  ///< by virtual stage
  std::vector<Chunk> chunks_;        ///< [stage][chunk]
  std::vector<Stage> stages_;        ///< by pipeline rank
};

/// Returns the elements of a bucket, at least one; 0 if all of them form one. Elements are as wide as the
/// plan's products, at any width on the wire: Megatron's buckets count parameters.
[[nodiscard]] std::int64_t bucket_elements(const Plan& plan);
/// Returns the elements of a bucket of gradients, or of models that are sent like gradients. The hooks of
/// DistributedDataParallel count bytes of gradients.
[[nodiscard]] std::int64_t bucket_elements(const Experiment& experiment);

/// Bytes of one gradient: 16-bit training may keep and reduce them in 32 bits.
[[nodiscard]] Bytes gradient_bytes(const Experiment& experiment);

/// Returns true if two stages differ only in the order of passes and in the numbers of their layers.
[[nodiscard]] bool alike(const Stage& a, const Stage& b);
/// The passes of one step, in order.
[[nodiscard]] std::vector<Pass> passes_of(const Plan& plan, const Stage& stage);
}  // namespace orrery
