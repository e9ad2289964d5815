// Records a fused pass of a program so that it can be repeated for another micro-batch. Inside
// workloads/programs/ only.
#pragma once

#include <array>

#include "workloads/programs/program_writer.hpp"

namespace orrery {

/// Lists the earlier operations that a fused pass may depend on.
using PassStart = std::array<OpId, 5>;

/// A fused pass that has been written, so that others can repeat it.
struct WrittenPass {
  OpId first = kNoOp;  ///< its operations
  OpId end = kNoOp;
  PassStart start{};
  OpId result = kNoOp;
  OpId collective = kNoOp;  ///< latest on the tensor stream
};

inline OpId shifted(OpId op, OpId by) { return op == kNoOp ? kNoOp : op + by; }

}  // namespace orrery
