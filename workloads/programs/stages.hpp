// Which blocks each pipeline rank holds, in which order it runs passes over them, and what that keeps
// in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "orrery/experiment.hpp"
#include "workloads/models/blocks.hpp"
#include "workloads/schedules/schedules.hpp"
#include "workloads/sync/sync_layout.hpp"

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
};

/// The blocks of one virtual stage, in forward order.
struct Chunk {
  std::span<const PlacedBlock> blocks;
  Boundary input;               ///< what the virtual stage before it hands over
  Boundary output;              ///< what it hands to the next
  Bytes activations = 0;        ///< kept per micro-batch
  Bytes for_weights = 0;        ///< kept of them where only the gradients of the weights are left
  Bytes workspace = 0;          ///< of the block that takes most
  std::int64_t parameters = 0;  ///< of all blocks
  std::int64_t trained = 0;     ///< of those
  std::int64_t experts = 0;     ///< of those, of experts

  /// What a pass over the chunk adds to what is kept.
  [[nodiscard]] Bytes change(PassKind kind) const {
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
};

/// What one pipeline rank holds and does.
struct Stage {
  std::int64_t index = 0;   ///< pipeline rank
  std::int64_t stages = 1;  ///< pipeline ranks
  std::span<const Chunk> chunks;
  ChunkMap map;

  /// Where the activations of a chunk come from, or its gradients if not `ahead`; none at the ends of the
  /// model.
  [[nodiscard]] std::optional<ChunkPlace> source(std::int64_t chunk, bool ahead) const {
    return ahead ? map.before({index, chunk}) : map.after({index, chunk});
  }
  /// Parameters this rank computes with, before sharding over data-parallel ranks.
  [[nodiscard]] std::int64_t parameters() const;
  [[nodiscard]] std::int64_t trained() const;  ///< of those
  [[nodiscard]] std::int64_t experts() const;  ///< of those, parameters of experts
  [[nodiscard]] std::int64_t trained_tensors(const ModelBlocks& blocks) const;
};

/// The stages of a plan, with all that they refer to.
class Stages {
 public:
  Stages() = default;
  Stages(const Plan& plan, const ModelBlocks& blocks);
  Stages(Stages&&) = default;
  Stages& operator=(Stages&&) = default;
  ~Stages() = default;
  Stages(const Stages&) = delete;
  Stages& operator=(const Stages&) = delete;

  [[nodiscard]] std::span<const Stage> list() const { return stages_; }

 private:
  /// Puts the layers of one copy of the model on their ranks.
  void place_model(const Plan& plan, const ModelBlocks& blocks, const ChunkMap& map, std::int64_t copy);

  std::vector<PlacedBlock> blocks_;  ///< by virtual stage
  std::vector<Chunk> chunks_;        ///< [stage][chunk]
  std::vector<Stage> stages_;        ///< by pipeline rank
};

/// Elements of a gradient bucket, at least one; 0 when all gradients form one bucket.
[[nodiscard]] std::int64_t bucket_elements(const Plan& plan);

/// Bytes of one gradient: 16-bit training may keep and reduce them in 32 bits.
[[nodiscard]] Bytes gradient_bytes(const Experiment& experiment);

/// Whether they do the same but for the order of passes and the numbers of layers.
[[nodiscard]] bool alike(const Stage& a, const Stage& b);
/// The passes of one step, in order.
[[nodiscard]] std::vector<Pass> passes_of(const Plan& plan, const Stage& stage);
/// So many micro-batches, at most those of the plan, that stages of several chunks, or of split backward
/// passes, keep no more activations with more of them.
[[nodiscard]] std::int64_t micro_batches_at_peak(const Plan& plan);

/// Rajbhandari et al. 2020 for parameters, gradients and Adam's states (2 + 2 + 12 bytes a parameter
/// in mixed precision, 4 + 4 + 8 in 32 bits); activations in flight by the order of the passes.
/// What keeps replicas in step adds its states to the optimizer's, and models received to the workspace.
[[nodiscard]] StageMemory memory_of(const Stage& stage, const Experiment& experiment,
                                    const SyncLayout& layout);

}  // namespace orrery
