// Programs of a workload, by what they are made from.
#pragma once

#include "orrery/content_hash.hpp"
#include "sim/step/memo.hpp"
#include "sim/step/step.hpp"

namespace orrery {

/// Fills in programs, and the kernel sequences, messages and passes of the input; returns the key of the
/// programs. Programs of equal keys do the same in the same order, whatever it costs; the names of layers and
/// the bytes of memory are of whoever wrote them first, unless `own`.
ContentHash write_programs_of(const StepInput& input, bool own, Memo& memo, Workload& workload);

}  // namespace orrery
