// How the replicas of an experiment are kept in step, as the table says it. Internal to comparison/.
#pragma once

#include "orrery/experiment.hpp"
#include "studies/compare/compare.hpp"

namespace orrery {

[[nodiscard]] SyncSummary summary_of(const Experiment& experiment);

}  // namespace orrery
