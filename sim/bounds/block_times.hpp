// Computes how long each block of a model takes on the GPUs of each pipeline rank: its passes there and back
// with one micro-batch, without interference from other stages and replicas.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "orrery/experiment.hpp"
#include "sim/cost/rank_speeds.hpp"
#include "sim/step/memo.hpp"
#include "workloads/communicators/communicator_layout.hpp"
#include "workloads/models/blocks.hpp"
#include "workloads/programs/stages.hpp"

namespace orrery {

/// Holds the least times of a block in a pass of some kind, recomputation included, with each message as long
/// as in the fastest communicator of the stage: from its input to its output, until its last kernel, and the
/// busy time of each stream.
struct LeastBlockTime {
  Picoseconds to_output = 0;
  Picoseconds computing = 0;
  std::array<Picoseconds, kStreamCount> busy{};  ///< sums without waits

  /// Until the block after it may begin in the same pass.
  [[nodiscard]] Picoseconds to_next() const { return std::max(to_output, computing); }
};
using LeastBlockTimes = std::array<LeastBlockTime, kPassKindCount>;  ///< by PassKind

/// A step of a block and the least that it takes.
struct TimedStep {
  Picoseconds duration = 0;
  std::int32_t after = kBlockInput;  ///< as Step::after
  std::uint8_t stream = 0;           ///< Stream

  [[nodiscard]] bool computes() const { return static_cast<Stream>(stream) == Stream::compute; }
  [[nodiscard]] bool sends_tokens() const {
    return static_cast<Stream>(stream) == Stream::expert ||
           static_cast<Stream>(stream) == Stream::expert_node;
  }
};
struct TimedSteps {
  std::vector<TimedStep> list;
  std::int32_t output = kBlockInput;  ///< as Steps::output
};
/// Steps by PassKind, and those of recomputation.
using TimedBlock = std::array<TimedSteps, kPassKindCount + 1>;

/// Holds the times on one GPU of a pipeline rank, which are those of all GPUs of its kind there.
struct GpuBlockTimes {
  std::uint64_t kind = 0;              ///< RankSpeeds::kind()
  std::vector<Picoseconds> times;      ///< per ModelBlocks::kinds
  std::vector<LeastBlockTimes> least;  ///< the same
  std::vector<TimedBlock> steps;       ///< the same, where they are asked for
};

struct BlockTimes {
  ModelBlocks blocks;                               ///< with their steps
  RankSpeeds speeds;                                ///< chance left out
  std::vector<std::vector<GpuBlockTimes>> of_rank;  ///< per pipeline rank: on each kind of GPU there
};

/// The longest chain through the steps of a block, where kernels follow each other and the messages of a
/// dimension do; each message as long as in the slowest communicator of the stage. Chance is left out.
[[nodiscard]] BlockTimes block_times(const Experiment& experiment, const CommunicatorLayout& layout,
                                     Memo& memo);

/// The least that sums of gradients and gathers of weights take in a step, on a pipeline rank.
struct LeastWeightTime {
  Picoseconds moving = 0;   ///< of the gathers, or of the sums: each follow each other on one stream
  Picoseconds exposed = 0;  ///< of those beside which the rank does not compute
};

/// Returns the least time of moving weights for stages that a plan might have; keeps references.
using WeightTimes = std::function<LeastWeightTime(const Stage&)>;
[[nodiscard]] WeightTimes weight_times(const Experiment& experiment, const CommunicatorLayout& layout,
                                       Memo& memo);

struct LeastTimes {
  BlockTimes blocks;
  Stages stages;
  std::vector<LeastWeightTime> weights;  ///< per pipeline rank
};

/// Adds the time of moving weights. The plan must have no "auto" values.
[[nodiscard]] LeastTimes least_times(const Experiment& experiment, const CommunicatorLayout& layout,
                                     Memo& memo, bool with_steps = false);

}  // namespace orrery
