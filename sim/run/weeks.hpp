// Adds the weeks of training to the report of their step.
#pragma once

#include "orrery/experiment.hpp"
#include "orrery/report.hpp"
#include "sim/step/memo.hpp"

namespace orrery {

/// Sets Report::long_run, where it is asked for and the experiment has weeks of training.
/// @throws as simulate_long_run()
void add_weeks(const Experiment& experiment, const Figures& figures, Memo& memo, Report& report);

}  // namespace orrery
