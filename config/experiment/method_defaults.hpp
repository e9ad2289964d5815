// Defaults that depend on data_parallel_sync.method. Internal to config/.
#pragma once

#include "orrery/experiment.hpp"

namespace orrery {

/// Sets the values that the method is published with, before given keys are read.
void apply_method_defaults(DataParallelSync& sync);
void apply_method_defaults(SyncMethod method, LearningProblem& problem);

}  // namespace orrery
