// How the replicas of an experiment are kept in step, as the table says it. Internal to comparison/.
#pragma once

#include "comparison/compare.hpp"
#include "orrery/experiment.hpp"

namespace orrery {

[[nodiscard]] SyncSummary summary_of(const Experiment& experiment);

}  // namespace orrery
