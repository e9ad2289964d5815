// Finds the parts of a pipeline stage's model that travel: all of it, an equal share, or the layers of a
// fragment.
#pragma once

#include <cstdint>

#include "orrery/experiment.hpp"
#include "workloads/programs/stages.hpp"
#include "workloads/sync/compressor.hpp"
#include "workloads/sync/sync_method.hpp"

namespace orrery {

class ModelParts {
 public:
  /// Keeps references. A value of the model has `width` bytes; a rank holds one of `shards` shards.
  ModelParts(const Experiment& experiment, const ModelBlocks& blocks, const Stage& stage, Bytes width,
             std::int64_t shards);

  /// Returns the part of the rank's shard that is sent; it has no values if the stage holds no layer of the
  /// fragment.
  [[nodiscard]] Payload of(const Departure& departure) const;
  /// Returns true if the block is part of the payload.
  [[nodiscard]] bool holds(const Departure& departure, const PlacedBlock& block) const;

 private:
  [[nodiscard]] Payload whole(const Departure& departure) const;

  const DataParallelSync& sync_;
  std::int64_t layers_;  ///< of the model
  const ModelBlocks& blocks_;
  const Stage& stage_;
  Payload all_;
  std::int64_t shards_;
};

}  // namespace orrery
