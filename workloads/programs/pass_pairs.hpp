// Passes that run side by side: the forward pass of one micro-batch and the backward pass of another, in
// turns, so that one computes while tokens of the other travel to their experts (DeepSeek-AI 2024,
// "DeepSeek-V3", section 3.2.1).
#pragma once

#include <span>

#include "workloads/programs/program_writer.hpp"

namespace orrery {

/// The operations [first, second) of a pass and [second, end) of the next one.
struct PassPair {
  OpId first = 0;
  OpId second = 0;
  OpId end = 0;
};

/// Alternates the operations of both passes of each pair: one goes on when the other has sent tokens off.
/// Each pass keeps its order, and no operation precedes its dependencies. Pairs lie in order and do not
/// overlap.
void run_side_by_side(std::span<const PassPair> pairs, Program& program);

}  // namespace orrery
