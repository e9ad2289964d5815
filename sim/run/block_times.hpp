// What each block of a model takes on the GPUs of each pipeline rank: its passes there and back with one
// micro-batch, without what other stages and replicas do beside them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "orrery/experiment.hpp"
#include "sim/cost/rank_speeds.hpp"
#include "sim/run/memo.hpp"
#include "workloads/models/blocks.hpp"
#include "workloads/sync/sync_layout.hpp"

namespace orrery {

/// On one GPU of a pipeline rank, as on all of its kind there.
struct GpuBlockTimes {
  std::uint64_t kind = 0;          ///< RankSpeeds::kind()
  std::vector<Picoseconds> times;  ///< per ModelBlocks::kinds
};

struct BlockTimes {
  ModelBlocks blocks;                               ///< with their steps
  RankSpeeds speeds;                                ///< chance left out
  std::vector<std::vector<GpuBlockTimes>> of_rank;  ///< per pipeline rank: on each kind of GPU there
};

/// The longest chain through the steps of a block, where kernels follow each other and the messages of a
/// dimension do; each message as long as in the slowest communicator of the stage. Chance is left out.
[[nodiscard]] BlockTimes block_times(const Experiment& experiment, const SyncLayout& layout, Memo& memo);

}  // namespace orrery
