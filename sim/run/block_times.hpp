// What each block of a model takes on the GPUs of each pipeline rank: its passes there and back with one
// micro-batch, without what other stages and replicas do beside them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "orrery/experiment.hpp"
#include "sim/run/memo.hpp"
#include "workloads/models/blocks.hpp"
#include "workloads/sync/sync_layout.hpp"

namespace orrery {

struct BlockTimes {
  ModelBlocks blocks;  ///< with their steps
  /// [pipeline rank][kind of GPU there][ModelBlocks::kinds]
  std::vector<std::vector<std::vector<Picoseconds>>> times;
};

/// The longest chain through the steps of a block, where kernels follow each other and the messages of a
/// dimension do; each message as long as in the slowest communicator of the stage. Chance is left out.
[[nodiscard]] BlockTimes block_times(const Experiment& experiment, const SyncLayout& layout, Memo& memo);

}  // namespace orrery
