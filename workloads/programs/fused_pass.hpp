// Fuses a pass through a stage into few operations, for detail `stage`: the steps between the first and the
// last collective of the tensor ranks become one entry of Workload::passes. The ends, which can overlap with
// the passes before and after it or differ between ranks, remain steps of their own.
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/workload.hpp"
#include "workloads/models/blocks.hpp"
#include "workloads/programs/stages.hpp"

namespace orrery {

struct FusedPass {
  static constexpr std::uint32_t kNone = 0xffffffff;
  std::vector<Step> head;      ///< Step::after counts in this list
  std::uint32_t body = kNone;  ///< of Workload::passes: after all of the head
  std::vector<Step> tail;      ///< Step::after counts in this list; kBlockInput: after the body
};

/// Steps of blocks that a pass runs over one after the other.
using StepLists = std::vector<const Steps*>;

/// Returns all steps of a pass over a chunk.
[[nodiscard]] StepLists steps_of(PassKind kind, const Chunk& chunk, const ModelBlocks& blocks);

/// @param lists         all steps of the pass
/// @param tensor_ranks  of the group that does them
[[nodiscard]] FusedPass add_fused_pass(const StepLists& lists, std::int64_t tensor_ranks, Workload& workload);

}  // namespace orrery
