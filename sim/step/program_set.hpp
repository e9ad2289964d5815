// Programs of a workload, by what they are made from.
#pragma once

#include "orrery/content_hash.hpp"
#include "sim/step/memo.hpp"
#include "sim/step/step.hpp"

namespace orrery {

/// Fills in programs, and the kernel sequences, messages and passes of the input; returns the key of the
/// programs. Programs of equal keys have the same operations in the same order, whatever they cost; the names
/// of layers and the bytes of memory are those of the first writer, unless `own`.
ContentHash write_programs_of(const StepInput& input, bool own, Memo& memo, Workload& workload);

}  // namespace orrery
