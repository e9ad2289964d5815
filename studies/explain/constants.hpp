// Says which constants of an experiment a measured run contradicts.
#pragma once

#include "orrery/experiment.hpp"
#include "studies/explain/explanation.hpp"

namespace orrery {

/// Sets Explanation::constants from its terms, messages and collectives: each is the value at which that part
/// alone would take as long as measured, if it is in proportion to the constant.
void find_constants(const Experiment& experiment, Explanation& explanation);

}  // namespace orrery
