// The chain of tasks that ends last. One part of build_report.
#pragma once

#include "orrery/report.hpp"
#include "sim/metrics/build_report.hpp"

namespace orrery {

/// From the task that finishes last (the lowest id on ties) back through the predecessor that
/// finished last (again the lowest id). A task's time is compute or the time its transfer takes
/// alone; what exceeds that, and any time between a predecessor's finish and a start, is wait.
struct CriticalPaths {
  CriticalPath whole;
  CriticalPath part;  ///< what of it lies between the part's begin and end
};
[[nodiscard]] CriticalPaths trace_critical_path(const RunView& run, const RunPart& part);

}  // namespace orrery
