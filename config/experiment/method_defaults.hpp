// Defaults that depend on data_parallel_sync.method. Internal to config/.
#pragma once

#include "orrery/experiment.hpp"

namespace orrery {

/// Sets what the method is published with, before keys that are given are read.
void apply_method_defaults(DataParallelSync& sync);
void apply_method_defaults(SyncMethod method, LearningProblem& problem);

}  // namespace orrery
