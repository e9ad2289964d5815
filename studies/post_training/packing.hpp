// Packs samples of unlike lengths into micro-batches, and deals those to the replicas of a plan.
#pragma once

#include <cstdint>
#include <vector>

#include "config/experiment/read_post_training.hpp"

namespace orrery {

struct PackingRules {
  std::int64_t replicas = 1;     ///< among which micro-batches are dealt
  std::int64_t most_tokens = 1;  ///< of a micro-batch; a longer sample has one to itself
  std::int64_t divisor = 1;      ///< tokens of a sequence are padded to a multiple of it
  std::int64_t multiple = 1;     ///< micro-batches of a replica are a multiple of it
  bool packs = true;             ///< attention stays within samples of a sequence
  bool pads = false;             ///< each sample is a sequence as long as the longest
};

struct PackedSamples {
  TrainingShape shape;   ///< of the replica that has most tokens
  double imbalance = 1;  ///< its tokens over those of a mean replica
  double fill = 1;       ///< tokens of samples over those of the micro-batches
};

/// Best fit, the longest samples first; micro-batches with most tokens first go to the replicas in turn,
/// there and back. All replicas have as many micro-batches, as collectives of a step demand. Samples of one
/// length, or padded to one, are not packed: they are sequences of micro-batches, as in pre-training.
/// @param lengths  tokens of each sample, at least one
[[nodiscard]] PackedSamples pack_samples(std::vector<std::int64_t> lengths, const PackingRules& rules);

}  // namespace orrery
