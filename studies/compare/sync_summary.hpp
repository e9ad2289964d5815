// Says how the replicas of an experiment are synchronised, in the words of the table. Internal to
// studies/compare/.
#pragma once

#include "orrery/experiment.hpp"
#include "studies/compare/compare.hpp"

namespace orrery {

[[nodiscard]] SyncSummary summary_of(const Experiment& experiment);

}  // namespace orrery
